// B[i] - T[i, block] X[block] for all open rows i: the product with ROWS solved rows of X is subtracted.
//
// A fragment computes one 2x2 block.
// T   n x n, packed      X   n x columns, packed, of which the block is solved      B   n x columns, packed
// Cost per fragment: ROWS + 1 fetches, 8 ROWS / 2 flop.
// Fetches: ROWS + 1.
// LAPACK trtrs, the product between two blocks.

#ifndef ROWS
#define ROWS 64  // rows of a block (16, 32, 64)
#endif

#include "lib/block_product.glsl"
#include "triangular/triangle.glsl"

uniform sampler2D X;
uniform sampler2D B;

flat in ivec2 corner;  // first texel of the block in X

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 from = ivec2(texel.x - corner.x, corner.y);  // not texel.x itself: see matmul/panel_broadcast.frag
    result = texelFetch(B, texel, 0);
    for (int s = 0; s < ROWS / 2; ++s) {
        vec4 x = texelFetch(X, from + ivec2(0, s), 0);
        result = subtract_block_product(result, block_of_T(texel.y, corner.y + s), x);
    }
}
