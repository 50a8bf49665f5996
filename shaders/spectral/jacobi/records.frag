// records = the texels of a matrix's record one after the other, from the targets of `small`.
//
// R0, R1 ...  a texel for each matrix, row by row
// records     wrapped
// Cost per fragment: 1 fetch.

#ifndef TARGETS
#define TARGETS 4  // textures that come in (2, 4, 8)
#endif

uniform sampler2D R0;
uniform sampler2D R1;
#if TARGETS > 2
uniform sampler2D R2;
uniform sampler2D R3;
#endif
#if TARGETS > 4
uniform sampler2D R4;
uniform sampler2D R5;
uniform sampler2D R6;
uniform sampler2D R7;
#endif
uniform ivec3 extent;  // matrices, texels of a record, texels in a row of records

layout(location = 0) out vec4 record;

int quotient(int a, int b) {  // of numbers below 2^22, in floats: GPUs have no division of integers
    return int((float(a) + 0.5) / float(b));
}

void main() {
    int texel = int(gl_FragCoord.y) * extent.z + int(gl_FragCoord.x);
    int matrix = quotient(texel, extent.y);
    int part = texel - matrix * extent.y;
    int width = textureSize(R0, 0).x;
    int row = quotient(matrix, width);
    ivec2 place = ivec2(matrix - row * width, row);
    record = vec4(0.0);
    if (matrix >= extent.x) return;
    if (part == 0) record = texelFetch(R0, place, 0);
    if (part == 1) record = texelFetch(R1, place, 0);
#if TARGETS > 2
    if (part == 2) record = texelFetch(R2, place, 0);
    if (part == 3) record = texelFetch(R3, place, 0);
#endif
#if TARGETS > 4
    if (part == 4) record = texelFetch(R4, place, 0);
    if (part == 5) record = texelFetch(R5, place, 0);
    if (part == 6) record = texelFetch(R6, place, 0);
    if (part == 7) record = texelFetch(R7, place, 0);
#endif
}
