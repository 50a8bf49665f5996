// y[i] = sum over d of A_d[i] x[i + o_d]: the product of a matrix that is given by its diagonals.
//
// A fragment computes four consecutive rows. The offsets o_d = 4 q + r are constants of the program: a diagonal costs one
// texel of A, and its four elements of x are those of texel q beside the own one where r = 0; else they are put together
// out of two. Neighbouring diagonals share texels of x: each is fetched once.
// A       diagonals of the height and width of y, side by side, GRID in a row; A_d[i] belongs to row i; or with BESIDE the
//         texels of all of them side by side
// x, y    wrapped        before  CONTINUE: the sum over earlier diagonals
// Cost per fragment: COUNT + X_FETCHES fetches, 8 COUNT flop.
// Fetches: COUNT + X_FETCHES + CONTINUE.
// Krueger and Westermann, "Linear algebra operators for GPU implementation of numerical algorithms" (2003), section 4.2;
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 3.1.2, figure 3.3a.

#ifndef COUNT
#define COUNT 1  // diagonals of this pass
#endif
#ifndef TERMS
#define TERMS TERM(0, x0)  // TERM(number, elements of x) of each diagonal
#endif
#ifndef GRID
#define GRID 1  // diagonals side by side
#endif
#ifndef BESIDE
#define BESIDE 0  // diagonals whose texels are side by side; 0 if each is by itself
#endif
#ifndef HEIGHT
#define HEIGHT 1  // texels in a column of the result
#endif

uniform sampler2D A;
uniform sampler2D x;

layout(location = 0) out vec4 y;

#include "lib/sampled.glsl"
#include "spmv/sparse.glsl"
#include "spmv/shifted.glsl"

void main() {
    y = vec4(0.0);
#if CONTINUE
    FIND_OWN(before)
    y = OWN(before);
#endif
    LOADS
#if SAMPLED
    vec2 own = gl_FragCoord.xy;
    vec2 scale = 1.0 / vec2(textureSize(A, 0));
#if BESIDE
#define PLACE(d) vec2(own.x * float(BESIDE) + (float(d) + 0.5 - 0.5 * float(BESIDE)), own.y)
#else
#define PLACE(d) (own + vec2((d) % GRID * WIDTH, (d) / GRID * HEIGHT))
#endif
#define ENTRIES(d) texture(A, PLACE(d) * scale)
#else
    ivec2 own = ivec2(gl_FragCoord.xy);
#if BESIDE
#define PLACE(d) ivec2(own.x * BESIDE + (d), own.y)
#else
#define PLACE(d) (own + ivec2((d) % GRID * WIDTH, (d) / GRID * HEIGHT))
#endif
#define ENTRIES(d) texelFetch(A, PLACE(d), 0)
#endif
#define TERM(d, elements) y += terms(ENTRIES(d), elements);
    TERMS
}
