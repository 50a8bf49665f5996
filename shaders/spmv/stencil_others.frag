// y[i] = sum over d of A_d[i] x[i + o_d] for rows that are listed: one point for four of them.
//
// A fragment computes four consecutive rows, and replaces what `stencil` has for them.
// A       the texels of all diagonals side by side; ACROSS listed fours in a row
// places  of each listed four, its texel of y        x, y  wrapped
// Cost per fragment: COUNT + X_FETCHES fetches and one of the vertex stage, 8 COUNT flop.
// Fetches: COUNT + X_FETCHES.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 3.1.2.

#ifndef COUNT
#define COUNT 1  // diagonals
#endif
#ifndef ACROSS
#define ACROSS 1  // listed fours in a row of A
#endif
#ifndef TERMS
#define TERMS TERM(0, x0)  // TERM(number, elements of x) of each diagonal
#endif

uniform sampler2D A;
uniform sampler2D x;

flat in int listed;

layout(location = 0) out vec4 y;

#include "lib/sampled.glsl"
#include "spmv/sparse.glsl"
#include "spmv/shifted.glsl"

void main() {
    ivec2 place = place_of(listed, ACROSS) * ivec2(COUNT, 1);
    y = vec4(0.0);
    LOADS
#define TERM(d, elements) y += terms(texelFetch(A, place + ivec2(d, 0), 0), elements);
    TERMS
}
