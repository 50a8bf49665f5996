// The pivot rows of step k (the step of the pass), and the constants of their 2x2 block.
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

#if STACK

flat out int k;  // texel column of the step

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
}

#else

#include "plu/step_constants.glsl"

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
    int step = step_of_pass();
    share(step, ivec2(factor_pivots(ivec2(step, 0), step).xy), top + 2 * step);
}

#endif
#endif
