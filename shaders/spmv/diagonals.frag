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
#ifndef LOADS
#define LOADS LOAD(x0, 0)  // LOAD(name, q) of each texel of x
#endif
#ifndef TERMS
#define TERMS TERM(0, x0)  // TERM(number, elements of x) of each diagonal
#endif
#ifndef X_FETCHES
#define X_FETCHES 1  // texels of x
#endif
#ifndef CONTINUE
#define CONTINUE 0  // go on from `before` (0, 1)
#endif
#ifndef GRID
#define GRID 1  // diagonals side by side
#endif
#ifndef BESIDE
#define BESIDE 0  // diagonals whose texels stand side by side; 0 if each stands by itself
#endif
#ifndef HEIGHT
#define HEIGHT 1  // texels in a column of the result
#endif
#ifndef X_TEXELS
#define X_TEXELS 1  // texels of x
#endif
#ifndef X_WIDTH
#define X_WIDTH 1  // texels in a row of x
#endif

uniform sampler2D A;
uniform sampler2D x;
#if CONTINUE
uniform sampler2D before;
#endif

layout(location = 0) out vec4 y;

#include "lib/sparse.glsl"

vec4 x_texel(int t) {  // one outside of x meets zeros of A
    t = clamp(t, 0, X_TEXELS - 1);
    int row = t / X_WIDTH;
    return texelFetch(x, ivec2(t - row * X_WIDTH, row), 0);
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    int t = own_texel();
    y = vec4(0.0);
#if CONTINUE
    y = texelFetch(before, own, 0);
#endif
#define LOAD(name, q) vec4 name = x_texel(t + (q));
    LOADS
#if BESIDE
#define PLACE(d) ivec2(own.x * BESIDE + (d), own.y)
#else
#define PLACE(d) (own + ivec2((d) % GRID * WIDTH, (d) / GRID * HEIGHT))
#endif
#define TERM(d, elements) y += terms(texelFetch(A, PLACE(d), 0), elements);
    TERMS
}
