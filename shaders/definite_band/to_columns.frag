// The band of a symmetric matrix, out of LAPACK's storage: diagonal by diagonal there, columns of blocks here.
//
// A fragment computes one 2x2 block of the lower triangle as cholesky/banded.glsl has it. Elements above the diagonal, below the
// band and outside the matrix are zero; corners of LAPACK's storage that belong to no element are not read.
// ab       packed; a_ij = ab[i - j, j], with UPPER a_ji = ab[w - (i - j), i], for 0 <= i - j <= w
// result   texel (x, y): the matrix's texel (x, y + 8 (x div 8))
// Fetches: 0 to 4.
// LAPACK, "band storage".

#ifndef UPPER
#define UPPER 0  // the band on and below the diagonal (0), or the one on and above it (1)
#endif

#include "lib/packed.glsl"

uniform sampler2D ab;
uniform ivec2 shape;  // of ab: w + 1, n

layout(location = 0) out vec4 result;

float element(int i, int j) {
    int distance = i - j;
    if (distance < 0 || distance >= shape.x || i >= shape.y) return 0.0;
#if UPPER
    ivec2 place = ivec2(shape.x - 1 - distance, i);
#else
    ivec2 place = ivec2(distance, j);
#endif
    vec2 pair = row_pair(ab, place.x, place.y >> 1);
    return (place.y & 1) == 0 ? pair.x : pair.y;
}

void main() {
    ivec2 texel = own_texel();
    int j = 2 * texel.x;
    int i = 2 * (texel.y + 8 * (texel.x >> 3));
    result = vec4(element(i, j), element(i, j + 1), element(i + 1, j), element(i + 1, j + 1));
}
