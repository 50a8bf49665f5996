// The pivot rows of step k (the step of the pass), out of the candidates that the search has left, and the constants of
// their 2x2 block, once for each corner instead of once for each fragment (thesis, listing 4.5). Everything is the same
// at the three corners, and `flat`, so nothing is interpolated.
//
//     a b        a  b        l = c / a
//     c d   ->   l  d'       d' = d - l b

#ifndef STACK
#define STACK 0  // a single matrix (0), or a stack, whose matrices have pivots of their own (1)
#endif

#include "lib/fullscreen.glsl"

flat out int k;           // texel column of the step

#if STACK

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
}

#else

#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/exchange.glsl"
#include "lib/factor_pivots.glsl"

uniform sampler2D A;

flat out ivec2 exchange;  // p and q: rows that come to row top + 2k and the next
flat out vec4 block;      // a, b, l, d'

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    exchange = ivec2(factor_pivots(k).xy);
    int r = top + 2 * k;
    vec2 upper = row_pair(A, source_row(r, r, exchange.x, r + 1, exchange.y), k);
    vec2 lower = row_pair(A, source_row(r + 1, r, exchange.x, r + 1, exchange.y), k);
    float l = multiplier(lower.x, upper.x);
    block = vec4(upper, l, lower.y - l * upper.y);
}

#endif
