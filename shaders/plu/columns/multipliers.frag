// l[i] = A[i, k] / A[k, k] once the pivot has come to place (k, k): the normalisation of column k.
//
// A fragment computes the multipliers of the rows of one texel. Those of the rows down to k mean nothing.
// A   rows x columns, see plu/columns/vectors.glsl      l   a column with as many rows in a texel as A
// Cost per fragment: up to 5 fetches, 1 division for each row.
// Fetches: 3 - PIVOTLESS to 3 + 2 * (ROWS > 1) - PIVOTLESS.
// Galoppo, Govindaraju, Henson and Manocha, "LU-GPU: Efficient algorithms for solving dense linear systems on graphics
// hardware" (2005): LU decomposition by row operations, a pass each.

#ifndef COMPLETE
#define COMPLETE 0  // the pivot may come from another column (0, 1)
#endif

#include "plu/columns/vectors.glsl"
#include "lib/divide.glsl"
#include "plu/columns/column_pivot.glsl"

uniform sampler2D A;
uniform int k;

layout(location = 0) out vec4 l;

void main() {
    int y = int(gl_FragCoord.y);
    ivec2 pivot = column_pivot(k);
    int column = COMPLETE == 1 ? pivot.y : k;
    float d = element(A, pivot.x, column);
#if ROWS == 1
    vec4 lead = vec4(element(A, exchanged(y, k, pivot.x), column));
#else
    vec4 lead = exchanged_vector(A, ivec2(column, y), k, pivot.x);
#endif
    vec4 multipliers = vec4(0.0);  // GLSL ES takes no computed index into an output
    for (int lane = 0; lane < ROWS; ++lane) multipliers[lane] = multiplier(lead[lane], d);
    l = multipliers;
}
