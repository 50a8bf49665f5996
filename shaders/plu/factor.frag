// L or U out of the matrix that holds both (thesis, equation 4.41).
//
// A fragment computes one 2x2 block of L (unit diagonal, zeros above) or of U (zeros below).
// LU   m x n, packed factors      result   m x min(m, n) or min(m, n) x n
// Cost per fragment: 1 fetch.

#ifndef LOWER
#define LOWER 1  // L (1) or U (0)
#endif

#include "lib/packed.glsl"

uniform sampler2D LU;
uniform ivec2 shape;  // rows and columns of the factor

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 block = texelFetch(LU, texel, 0);
#if LOWER
    if (texel.x > texel.y) block = vec4(0.0);
    if (texel.x == texel.y) block = vec4(1.0, 0.0, block.b, 1.0);
#else
    if (texel.x < texel.y) block = vec4(0.0);
    if (texel.x == texel.y) block.b = 0.0;
#endif
    result = without_padding(block, texel, shape);
}
