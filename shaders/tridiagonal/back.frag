// x[i] of P equations in a row from the unknowns that were kept: x[gP - 1] above them and x[gP + P - 1], the last.
//
//     (lower c + diagonal + upper c') x[i] = rhs - lower d - upper d'        x[i-1] = d - c x[i], x[i+1] = d' - c' x[i]
//
// A fragment computes one unknown: kept ones are copied; for the others it eliminates from both ends towards its row,
// which needs no row twice. With TOP nothing was kept, and the rows are those of a whole system.
// E       n equations of each system
// X       floor(n / P) unknowns of the next level, unless TOP
// L       with TOP and GUARD, unless FIRST: what was left of the pivots of the rows
// x, left   n unknowns; what is left of the least pivot, with TOP and GUARD
// Cost per fragment: P + 1 fetches at most; TOP: n.
// Hockney 1965 (P = 2); Wang 1981.

#ifndef P
#define P 2  // equations that became one (2, 4, 8, 16)
#endif
#ifndef TOP
#define TOP 0  // solve whole systems (0, 1)
#endif
#ifndef GUARD
#define GUARD 1  // with TOP: hand on what is left of the pivots (0, 1)
#endif
#ifndef FIRST
#define FIRST 1  // no level was before (0, 1)
#endif

#include "lib/tridiagonal.glsl"

uniform sampler2D E;
#if TOP == 0
uniform sampler2D X;
#endif
uniform int n;  // equations of a system

layout(location = 0) out float x;
#if TOP && GUARD
layout(location = 1) out float left;
#if FIRST
#define LEFT(i, row) left_at_first(row)
#else
uniform sampler2D L;
#define LEFT(i, row) texelFetch(L, place_of(i), 0).r
#endif
#define LEAST(least, i, row) least_of(least, LEFT(i, row))
#else
#define LEAST(least, i, row) (least)
#endif

void main() {
    int own = own_row();
    float least = 1.0;
    vec2 above = vec2(0.0);
    vec2 below = vec2(0.0);
#if TOP
    int top = 0;
    int last = n - 1;
#else
    int group = own / P;
    int top = group * P;
    int kept = top + P - 1;
    if (own == kept) {
        x = texelFetch(X, place_of(group), 0).r;
        return;
    }
    int last = min(kept, n) - 1;
    if (group > 0) above.y = texelFetch(X, place_of(group - 1), 0).r;
    if (kept < n) below.y = texelFetch(X, place_of(group), 0).r;
#endif
    for (int i = top; i < own; ++i) {
        vec4 row = equation(E, i, n);
        least = LEAST(least, i, row);
        above = eliminated(above, row.r, row.g, row.b, row.a, least);
    }
    for (int i = last; i > own; --i) {
        vec4 row = equation(E, i, n);
        least = LEAST(least, i, row);
        below = eliminated(below, row.b, row.g, row.r, row.a, least);
    }
    vec4 row = equation(E, own, n);
    x = unknown_between(row, above, below, least);
#if TOP && GUARD
    left = LEAST(least, own, row);
#endif
}
