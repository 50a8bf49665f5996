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

float so_far(int i, vec4 row) {
#if FIRST
    return left_at_first(row);
#else
    return texelFetch(L, place_of(i), 0).r;
#endif
}
#endif

void main() {
    int top = own_row() * P;
    int kept = top + P - 1;
    int last = min(kept + P - 1, n - 1);
    vec4 row = equation(E, top, n);
#if GUARD
    float least = so_far(top, row);
#endif
    for (int i = top + 1; i <= kept; ++i) {
        vec4 next = equation(E, i, n);
        float factor = -multiplier(next.r, row.g);
        float change = factor * row.b;
        float diagonal = next.g + change;
#if GUARD
        least = least_of(least, row.g == 0.0 ? 0.0 : so_far(i, next));
        least = least_of(least, left_of(diagonal, abs(next.g) + abs(change)));
#endif
        float known = factor * row.a;
        row = vec4(factor * row.r, diagonal, next.b, next.a + known);
    }
    if (last > kept) {
        vec4 below = equation(E, last, n);
#if GUARD
        least = least_of(least, so_far(last, below));
#endif
        for (int i = last - 1; i > kept; --i) {
            vec4 next = equation(E, i, n);
            float factor = -multiplier(next.b, below.g);
            float change = factor * below.r;
            float diagonal = next.g + change;
#if GUARD
            least = least_of(least, below.g == 0.0 ? 0.0 : so_far(i, next));
            least = least_of(least, left_of(diagonal, abs(next.g) + abs(change)));
#endif
            float known = factor * below.a;
            below = vec4(next.r, diagonal, factor * below.b, next.a + known);
        }
        float factor = -multiplier(row.b, below.g);
        float change = factor * below.r;
        float diagonal = row.g + change;
#if GUARD
        least = least_of(least, below.g == 0.0 ? 0.0 : left_of(diagonal, abs(row.g) + abs(change)));
#endif
        float known = factor * below.a;
        row = vec4(row.r, diagonal, factor * below.b, row.a + known);
    }
    reduced = row;
#if GUARD
    left = least;
#endif
}
