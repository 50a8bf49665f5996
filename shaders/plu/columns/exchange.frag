// The finished parts of the matrix, which step k only moves: rows k and p change places to the left, in L, and with
// COMPLETE columns k and q above, in U.
//
// A fragment computes one texel of the new matrix.
// A   rows x columns, see plu/columns/vectors.glsl
// Cost per fragment: up to 4 fetches.
// Fetches: 2 to 2 + 2 * (ROWS > 1).
// Galoppo, Govindaraju, Henson and Manocha, "LU-GPU: Efficient algorithms for solving dense linear systems on graphics
// hardware" (2005): rows and columns are swapped by drawing them where they go.

#ifndef COMPLETE
#define COMPLETE 0  // exchange columns too (0, 1)
#endif

#include "plu/columns/vectors.glsl"
#include "plu/columns/column_pivot.glsl"

uniform sampler2D A;
uniform int k;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 pivot = column_pivot(k);
#if COMPLETE
    texel.x = exchanged(texel.x, k, pivot.y);
#endif
    result = exchanged_vector(A, texel, k, pivot.x);
}
