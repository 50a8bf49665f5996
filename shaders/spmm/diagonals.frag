// Y[i, :] = sum over d of A_d[i] X[i + o_d, :]: the product of diagonals and a matrix.
//
// A fragment computes four columns of one row. With AROUND a diagonal goes on at the beginning of X behind its end.
// A       diagonals as vectors of VECTOR_WIDTH x HEIGHT texels, GRID side by side; A_d[i] belongs to row i; or with BESIDE
//         the texels of all of them side by side
// X, Y    wrapped, rows of QUADS texels        before  CONTINUE: the sum over earlier diagonals
// Cost per fragment: 2 fetches and 8 flop for a diagonal.
// Fetches: 0 to 2 * COUNT + CONTINUE.
// Krueger and Westermann, "Linear algebra operators for GPU implementation of numerical algorithms" (2003), section 4.2.

#ifndef COUNT
#define COUNT 1  // diagonals of this pass
#endif
#ifndef TERMS
#define TERMS TERM(0, 0)  // TERM(number, offset) of each diagonal
#endif
#ifndef AROUND
#define AROUND 0  // offsets lead around (0, 1)
#endif
#ifndef GRID
#define GRID 1  // diagonals side by side
#endif
#ifndef BESIDE
#define BESIDE 0  // diagonals whose texels are side by side; 0 if each is by itself
#endif
#ifndef VECTOR_WIDTH
#define VECTOR_WIDTH 1  // texels in a row of a diagonal
#endif
#ifndef HEIGHT
#define HEIGHT 1  // texels in a column of a diagonal
#endif

uniform sampler2D A;
uniform sampler2D X;

layout(location = 0) out vec4 Y;

#include "spmm/sparse_rows.glsl"

int inside(int j) {  // an element outside meets a zero of A
#if AROUND
    return j < COLUMNS ? j : j - COLUMNS;
#else
    return clamp(j, 0, COLUMNS - 1);
#endif
}

void main() {
    Own own = own_row();
    Y = vec4(0.0);
    if (own.row >= ROWS) return;
    Y = begun();
    ivec2 at = place_of(own.row >> 2, VECTOR_WIDTH);
    int lane = own.row & 3;
#if BESIDE
#define PLACE(d) ivec2(at.x * BESIDE + (d), at.y)
#else
#define PLACE(d) (at + ivec2((d) % GRID * VECTOR_WIDTH, (d) / GRID * HEIGHT))
#endif
#define TERM(d, o) Y += scaled_row(texelFetch(A, PLACE(d), 0)[lane], inside(own.row + (o)), own.quad);
    TERMS
}
