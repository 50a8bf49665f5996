// P equations become one: unknown i = gP + P - 1 keeps its equation, those between are eliminated from it.
//
//     row      gP  ...  i-1 |  i  | i+1  ...  i+P-1 | i+P            P = 2 is cyclic reduction: with
//              eliminated   | kept|   eliminated    | kept             a = -lower / diagonal[i-1], c = -upper / diagonal[i+1]
//              downwards -->|     |<-- upwards      |                  (a lower[i-1], diagonal + a upper[i-1] + c lower[i+1],
//                                                                       c upper[i+1], rhs + a rhs[i-1] + c rhs[i+1])
//
// A fragment computes one equation of the next level, which has floor(n / P) of them. With GUARD it also hands on how
// much the least pivot so far has kept of the terms that it is the sum of, see lib/tridiagonal.glsl.
// E       n equations of each system
// L       what was left of the pivots of their rows, unless FIRST
// reduced, left   of floor(n / P) equations
// Cost per fragment: 2P - 1 fetches, with GUARD and not FIRST twice as many.
// Hockney 1965 (P = 2); Wang, "A parallel method for tridiagonal equations" (1981).

#ifndef P
#define P 2  // equations that become one (2, 4, 8, 16)
#endif
#ifndef GUARD
#define GUARD 1  // hand on what is left of the pivots (0, 1)
#endif
#ifndef FIRST
#define FIRST 1  // no level was before (0, 1)
#endif

#include "lib/tridiagonal.glsl"

uniform sampler2D E;
#if GUARD && FIRST == 0
uniform sampler2D L;
#endif
uniform int n;  // equations of a system

layout(location = 0) out vec4 reduced;
#if GUARD
layout(location = 1) out float left;
#endif

float so_far(int i, vec4 row) {
#if GUARD == 0
    return 1.0;
#elif FIRST
    return left_at_first(row);
#else
    return texelFetch(L, place_of(i), 0).r;
#endif
}

void main() {
    int top = own_row() * P;
    int kept = top + P - 1;
    int last = min(kept + P - 1, n - 1);
    vec4 row = equation(E, top, n);
    float least = so_far(top, row);
    for (int i = top + 1; i <= kept; ++i) {
        vec4 next = equation(E, i, n);
        row = eliminated_into(next, row, so_far(i, next), least);
    }
    if (last > kept) {
        vec4 below = equation(E, last, n);
        least = least_of(least, so_far(last, below));
        below = mirrored(below);
        for (int i = last - 1; i > kept; --i) {
            vec4 next = equation(E, i, n);
            below = eliminated_into(mirrored(next), below, so_far(i, next), least);
        }
        row = mirrored(eliminated_into(mirrored(row), below, 1.0, least));
    }
    reduced = row;
#if GUARD
    left = least;
#endif
}
