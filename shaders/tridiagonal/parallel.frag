// Equation i loses its neighbours at a distance s, and gets those at 2s: every row is reduced, none is kept back.
//
//     a = -lower / diagonal[i-s], c = -upper / diagonal[i+s]
//     (a lower[i-s], diagonal + a upper[i-s] + c lower[i+s], c upper[i+s], rhs + a rhs[i-s] + c rhs[i+s])
//
// A fragment computes one equation. After ceil(log2 n) passes none has a neighbour. Not backward stable row by row, so
// that a step of refinement has to follow.
// E, reduced   n equations of each system
// L, left      what is left of the least pivot of the rows, with GUARD
// Cost per fragment: 3 fetches, with GUARD and not FIRST 6.
// Hockney and Jesshope, "Parallel Computers" (1981), section 5.4.3.

#ifndef GUARD
#define GUARD 1  // hand on what is left of the pivots (0, 1)
#endif
#ifndef FIRST
#define FIRST 1  // no pass was before (0, 1)
#endif

#include "lib/tridiagonal.glsl"

uniform sampler2D E;
#if GUARD && FIRST == 0
uniform sampler2D L;
#endif
uniform int n;      // equations of a system
uniform int reach;  // s

layout(location = 0) out vec4 reduced;
#if GUARD
layout(location = 1) out float left;

float so_far(int i, vec4 row) {
    if (i < 0 || i >= n) return 1.0;
#if FIRST
    return left_at_first(row);
#else
    return texelFetch(L, place_of(i), 0).r;
#endif
}
#endif

void main() {
    int i = own_row();
    vec4 row = equation(E, i, n);
    vec4 low = equation(E, i - reach, n);
    vec4 high = equation(E, i + reach, n);
    float a = -multiplier(row.r, low.g);
    float c = -multiplier(row.b, high.g);
    float from_low = a * low.b;
    float from_high = c * high.r;
    float diagonal = row.g + from_low;
    diagonal += from_high;
    float known = a * low.a;
    float rhs = row.a + known;
    known = c * high.a;
    rhs += known;
    reduced = vec4(a * low.r, diagonal, c * high.b, rhs);
#if GUARD
    float least = least_of(so_far(i, row), least_of(so_far(i - reach, low), so_far(i + reach, high)));
    if (low.g == 0.0 || high.g == 0.0) least = least_of(least, 0.0);
    left = least_of(least, left_of(diagonal, abs(row.g) + abs(from_low) + abs(from_high)));
#endif
}
