// The records of a factorisation that went column by column, two columns in a texel as pivot/factor_records.frag has them.
//
// A fragment computes one texel of each target, for columns r = 2x and r + 1:
// pivots    (p, q, r, 0). p: row brought to row r; q: row that then is brought to the row below.
// health    (1, largest entry that the two searches have met, pivot of the second column, 0); the first is 0 for a pivot of 0
// columns   with COMPLETE (p, q, r, 0) as for the rows: the exchanges of columns
// records   one candidate for each column, see plu/columns/column_pivot.glsl
// A         with PIVOTLESS instead: the factors, with one element in a texel; U's diagonal has the pivots
// Cost per fragment: 4 fetches.
// Fetches: 1 to 4 - 2 * PIVOTLESS.

#ifndef COMPLETE
#define COMPLETE 0  // columns were exchanged (0, 1)
#endif

#include "plu/columns/column_pivot.glsl"

#if PIVOTLESS
uniform sampler2D A;
#endif
uniform int count;  // columns that were eliminated

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 health;
#if COMPLETE
layout(location = 2) out vec4 columns;
#endif

float norm_of(int column) {
#if PIVOTLESS
    return column < count ? abs(texelFetch(A, ivec2(column), 0).r) : 0.0;
#else
    return column < count ? max(texelFetch(records, ivec2(column, 0), 0).x, 0.0) : 0.0;
#endif
}

void main() {
    int r = 2 * int(gl_FragCoord.x);
    ivec2 one = column_pivot(r);
    ivec2 two = r + 1 < count ? column_pivot(r + 1) : ivec2(r + 1);
    float norm = norm_of(r + 1);
    pivots = vec4(one.x, two.x, r, 0.0);
    health = vec4(norm > 0.0 ? 1.0 : 0.0, max(norm_of(r), norm), norm, 0.0);
#if COMPLETE
    columns = vec4(one.y, two.y, r, 0.0);
#endif
}
