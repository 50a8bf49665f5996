// What remains after 16 more columns of L: A - X X^T in its lower half.
//
// A fragment computes one 2x2 block.
// A        what remained before, packed      L   of which 16 columns are new
// corner   first texel of the block on the diagonal in A and in L
// Cost per fragment: 17 fetches, 128 flop; above the diagonal 0.
// Fetches: 0 to 17.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, `diagupdate` and `loupdate`, in one
// pass, or apart.

#ifndef DIAGONAL
#define DIAGONAL 0  // only the 16 x 16 blocks on the diagonal (0, 1)
#endif

#include "lib/cholesky.glsl"

uniform sampler2D A;
uniform sampler2D L;
uniform ivec2 corner;

layout(location = 0) out vec4 result;

const int SIDE = 8;  // of a block, in texels

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 place = texel - corner;
    result = vec4(0.0);
    if (place.x > place.y) return;
#if DIAGONAL
    if (place.x / SIDE != place.y / SIDE) return;
#endif
    int across = corner.y + place.x;  // row of texels of L that has the columns of the fragment
    result = texelFetch(A, texel, 0);
    for (int s = 0; s < SIDE; ++s) {
        vec4 rows = texelFetch(L, ivec2(corner.x + s, texel.y), 0);
        result = less_product(result, rows, texelFetch(L, ivec2(corner.x + s, across), 0));
    }
}
