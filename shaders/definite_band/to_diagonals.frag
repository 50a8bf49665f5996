// A band in LAPACK's storage, out of columns of blocks: the inverse of to_columns.frag.
//
// A fragment computes one 2x2 block of the result. Corners that belong to no element are zero.
// M        a lower triangle as cholesky/banded.glsl has it
// result   packed; m_ij at [i - j, j], with UPPER at [w - (i - j), i]
// Fetches: 0 to 4.
// LAPACK, "band storage".

#ifndef UPPER
#define UPPER 0  // the band on and below the diagonal (0), or, transposed, the one on and above it (1)
#endif

#include "lib/packed.glsl"

uniform sampler2D M;
uniform ivec2 shape;  // of the result: w + 1, n

layout(location = 0) out vec4 result;

float element(int row, int column) {
#if UPPER
    int i = column;
    int j = column - (shape.x - 1 - row);
#else
    int i = column + row;
    int j = column;
#endif
    if (row >= shape.x || j < 0 || i >= shape.y) return 0.0;
    vec2 pair = row_pair(M, i - 16 * (j >> 4), j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

void main() {
    result = BLOCK_OF(element, own_texel());
}
