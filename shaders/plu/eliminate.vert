// The pivot rows of step k (the step of the pass), and the constants of their 2x2 block, once for each corner instead of
// once for each fragment (thesis, listing 4.5). Everything is the same at the three corners, and `flat`, so nothing is
// interpolated.
//
//     a b        a  b        l = c / a
//     c d   ->   l  d'       d' = d - l b
//
// The pivots come out of the candidates that the search has left; with SEARCH, which is for small matrices, the corner
// searches them itself. The matrices of a stack have pivots of their own, so with STACK the fragments fetch them.

#ifndef STACK
#define STACK 0  // operands are stacks of matrices (1), or single ones (0)
#endif
#ifndef SEARCH
#define SEARCH 0  // search the pivots here (1), or find them among candidates (0)
#endif

#include "lib/fullscreen.glsl"

flat out int k;  // texel column of the step

#if STACK

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
}

#else

#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/exchange.glsl"

uniform sampler2D A;

flat out ivec2 exchange;  // p and q: rows that come to row top + 2k and the next
flat out vec4 block;      // a, b, l, d'

#if SEARCH

#include "lib/pivot_search.glsl"

uniform ivec2 shape;  // rows and columns of A

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    search_pivots(A, k, shape.x, exchange, block);
}

#else

#include "lib/factor_pivots.glsl"

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
#endif
