// One step of elimination, one column of it, drawn over the rest of the matrix:
//
//     row k          the pivot row, brought up from row p
//     below, right   A[i, j] - l[i] A[k, j]
//     column k       l, where the zeros would be, so that L and U share one matrix
//
// With COMPLETE columns k and q have changed places too. A fragment fetches its row where it stood before the exchange.
// With PIVOTLESS nothing is exchanged, and a finished column of L, too, is drawn once more.
// A finished row is drawn once more, one step after its own: then both textures of the ping-pong hold it.
//
// A fragment computes one texel of the new matrix.
// A   rows x columns, see plu/columns/vectors.glsl
// l   plu/columns/multipliers.frag, or the red of plu/columns/next_column.frag
// Cost per fragment: 4 fetches (two more for a texel of four rows that exchanges one), 2 flop for each element.
// Fetches: 4 - PIVOTLESS to 4 + 2 * (ROWS > 1) - PIVOTLESS.
// Galoppo, Govindaraju, Henson and Manocha, "LU-GPU: Efficient algorithms for solving dense linear systems on graphics
// hardware" (2005): one element in a texel, partial and full pivoting;
// Moravanszky, "Dense matrix algebra on the GPU" (2003): four elements of a row or column in a texel;
// Brodtkorb, Saetra and Fladby, "PLU factorization on a cluster of GPUs using fast Ethernet" (2007), section A.3.2.

#ifndef COMPLETE
#define COMPLETE 0  // exchange columns too (0, 1)
#endif

#include "plu/columns/vectors.glsl"
#include "plu/columns/column_pivot.glsl"
#if COMPLETE && COLUMNS != 1
#error columns are exchanged where a texel holds one
#endif

uniform sampler2D A;
uniform sampler2D l;
uniform int k;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 pivot = column_pivot(k);
    ivec2 source = texel;
#if COMPLETE
    source.x = exchanged(texel.x, k, pivot.y);
#endif
    vec4 row = exchanged_vector(A, source, k, pivot.x);
    vec4 upper = row_beside(A, pivot.x, source);
    vec4 factor = column_beside(l, texel);
    vec4 next = row;  // GLSL ES takes no computed index into an output
    for (int lane = 0; lane < LANES; ++lane) {
        int j = column_of(texel, lane);
        if (row_of(texel, lane) <= k || j < k) continue;
        next[lane] = j == k ? factor[lane] : row[lane] - factor[lane] * upper[lane];
    }
    result = next;
}
