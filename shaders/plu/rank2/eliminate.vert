// The pivot rows of step k (the step of the pass), out of the candidates that the search has left, and the constants of
// their 2x2 block: what all fragments share, computed once for each corner instead of once for each fragment (thesis,
// listing 4.5). All is the same at the three corners, and `flat`, so nothing is interpolated.
//
// The matrices of a stack (STACK) have pivots of their own, which the fragments fetch.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif

#ifndef STACK
#define STACK 0  // operands are stacks of matrices (1), or single ones (0)
#endif

#include "lib/fullscreen.glsl"

flat out int k;  // texel column of the step

#if STACK

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
}

#else

#include "lib/pivots.glsl"

uniform sampler2D A;
uniform sampler2D candidates;
uniform int chunk;    // texels that one fragment has searched
uniform int top;      // first row of the panel
uniform ivec2 shape;  // rows and columns of A

flat out ivec2 exchange;  // p and q: rows that come to row top + 2k and the next
flat out vec4 block;      // a, b, l, d'

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    int r = top + 2 * k;
    exchange = ivec2(factor_pivots(candidates, ivec2(k, 0), r, shape.x, chunk, PAIR == 1).xy);
    block = pivot_block(A, k, r, exchange);
}

#endif
