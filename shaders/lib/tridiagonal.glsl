// Tridiagonal systems, one equation in a texel: (lower, diagonal, upper, right side), or
//
//     r x[i-1] + g x[i] + b x[i+1] = a
//
// Systems are side by side as in a stack (lib/packed.glsl): equation i of every system is a texel of its own, in a
// column (AXIS 0) or in a row (AXIS 1). Equations outside of a system say x = 0.

#ifndef AXIS
#define AXIS 0  // the equations of a system are below each other (0), or side by side (1)
#endif
#ifndef DEFINITE
#define DEFINITE 0  // pivots must be above zero (1), or away from it (0)
#endif
#define STACK 1

#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/ieee.glsl"

#if AXIS
#define own_row() (own_texel().x)
#define place_of(i) at(ivec2(i, 0))
#else
#define own_row() (own_texel().y)
#define place_of(i) at(ivec2(0, i))
#endif

const vec4 NO_EQUATION = vec4(0.0, 1.0, 0.0, 0.0);
const float REFUSED = 1.2676506e30;  // 2^100: the error of a solution that is none
const float FLOOR = 7.8886091e-31;   // 2^-100: what an error is measured by at least

vec4 equation(sampler2D E, int i, int n) {
    return i < 0 || i >= n ? NO_EQUATION : texelFetch(E, place_of(i), 0);
}

// What is left of a pivot beside the terms that it is the sum of. Near zero it may be nothing but rounding error, and the
// system is rejected; of a definite matrix it is negative where the pivot is.
float left_of(float sum, float magnitude) {
#if DEFINITE == 0
    sum = abs(sum);
#endif
    return magnitude > 0.0 ? quotient(sum, magnitude) : 0.0;
}

float least_of(float a, float b) {  // NaN: nothing is left
    return is_nan(a) || is_nan(b) ? -1.0 : min(a, b);
}

// The same of a row that nothing was eliminated from. A row whose diagonal does not dominate it leaves a sixteenth: its
// system has to show that its solution is no larger than that of a regular one.
float left_at_first(vec4 row) {
#if DEFINITE
    if (row.g <= 0.0) return -1.0;
#endif
    return abs(row.g) >= abs(row.r) + abs(row.b) ? 1.0 : 0.0625;
}

// One side of an elimination that runs towards row i: x of its last row is solution.y - solution.x x[i].
//   row    its next equation, with `inner` the entry towards where it came from, and `outer` the one towards row i
//   left   of its pivots, the least so far, see left_of
vec2 eliminated(vec2 before, float inner, float diagonal, float outer, float rhs, inout float left) {
    float taken = inner * before.x;
    float pivot = diagonal - taken;
    left = least_of(left, left_of(pivot, abs(diagonal) + abs(taken)));
    float known = inner * before.y;
    return vec2(multiplier(outer, pivot), multiplier(rhs - known, pivot));
}

// Equation `next` without its unknown in common with equation `row`, which is above it; that of `row` above comes in.
//   so_far   what was left of the pivots of `next`
//   left     of all that went into `row`, the least so far
vec4 eliminated_into(vec4 next, vec4 row, float so_far, inout float left) {
    float factor = -multiplier(next.r, row.g);
    float change = factor * row.b;
    float diagonal = next.g + change;
    left = least_of(left, row.g == 0.0 ? 0.0 : so_far);
    left = least_of(left, left_of(diagonal, abs(next.g) + abs(change)));
    float known = factor * row.a;
    return vec4(factor * row.r, diagonal, next.b, next.a + known);
}

// The equation as it is with unknowns counted from the other end.
vec4 mirrored(vec4 row) {
    return row.bgra;
}

// x of an equation between two sides, see `eliminated`; NaN where its pivot is zero.
float unknown_between(vec4 row, vec2 above, vec2 below, inout float left) {
    float from_above = row.r * above.x;
    float from_below = row.b * below.x;
    float pivot = row.g - from_above;
    pivot -= from_below;
    float known = row.r * above.y;
    float rhs = row.a - known;
    known = row.b * below.y;
    rhs -= known;
    left = least_of(left, left_of(pivot, abs(row.g) + abs(from_above) + abs(from_below)));
    return pivot == 0.0 ? NOT_A_NUMBER : quotient(rhs, pivot);
}
