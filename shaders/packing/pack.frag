// packed[i, j] = raw[i - top, j - left]: four elements of the raw layout into one texel.
//
// A fragment computes one texel of the packed matrix. A matrix too wide or too high for one raw texture comes in
// tiles; `corner` is the tile's first element.
// raw     tile of the matrix, one element per texel; with TRANSPOSED its transpose (NumPy's Fortran order)
// packed  rows x columns
// Cost per fragment: 4 fetches.
// Fetches: 1 + 3 * (shape_x % 2 + shape_y % 2 == 0) to 4.
// Hall, Carr and Hart, "Cache and bandwidth aware matrix multiplication on the GPU" (2003): the 2x2 layout.

#ifndef TRANSPOSED
#define TRANSPOSED 0  // raw holds columns (0, 1)
#endif

uniform sampler2D raw;
uniform ivec2 corner;  // row and column of the tile's first element
uniform ivec2 shape;   // rows and columns of the matrix

layout(location = 0) out vec4 packed_block;

float element(int i, int j) {
    if (i >= shape.x || j >= shape.y) return 0.0;
    i -= corner.x;
    j -= corner.y;
#if TRANSPOSED
    return texelFetch(raw, ivec2(i, j), 0).r;
#else
    return texelFetch(raw, ivec2(j, i), 0).r;
#endif
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y;
    int j = 2 * texel.x;
    packed_block = vec4(element(i, j), element(i, j + 1), element(i + 1, j), element(i + 1, j + 1));
}
