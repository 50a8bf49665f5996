// What remains after 16 more columns of L: A - X X^T in its lower half.
//
// A fragment computes one 2x2 block.
// A        what remained before, packed, or a band by columns (BANDED); L   of which 16 columns are new, likewise
// corner   first texel of the block on the diagonal in A and in L
// Cost per fragment: 17 fetches, 128 flop; above the diagonal 0.
// Fetches: 0 to 17.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, `diagupdate` and `loupdate`, in one
// pass, or apart.

#ifndef DIAGONAL
#define DIAGONAL 0  // only the 16 x 16 blocks on the diagonal (0, 1)
#endif

#include "lib/packed.glsl"
#include "cholesky/banded.glsl"
#include "lib/cholesky.glsl"

uniform sampler2D A;
uniform sampler2D L;
uniform ivec2 corner;

layout(location = 0) out vec4 result;

const int SIDE = 8;  // of a block, in texels

void main() {
    ivec2 texel = own_texel();
    ivec2 place = from_diagonal(texel, corner);
    result = vec4(0.0);
    if (place.x > place.y) return;
#if DIAGONAL
    if (place.x / SIDE != place.y / SIDE) return;
#endif
    result = texelFetch(A, at(texel), 0);
    if (beyond_reach(place)) return;
    ivec2 rows = corner + ivec2(0, place.y);     // texels of L that have the rows of the fragment,
    ivec2 columns = corner + ivec2(0, place.x);  // and its columns
    for (int s = 0; s < SIDE; ++s) {
        vec4 of_rows = texelFetch(L, at(rows + ivec2(s, 0)), 0);
        result = less_product(result, of_rows, texelFetch(L, at(columns + ivec2(s, 0)), 0));
    }
}
