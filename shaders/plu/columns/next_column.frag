// The extra column at the left of the matrix: the multipliers of column k, and column k+1 as it will be.
//
//     l[i]     a[i] / a[k]                        red
//     next[i]  A[i, k+1] - l[i] A[k, k+1]         blue
//
// once rows k and p have changed places; a, column k, is what this pass called `next` one step before. So the search for
// the next pivot need not wait until the rest of the matrix is reduced. The multiplier of the top row is one, and never
// needed; the rows above are finished.
//
// The thesis draws this column into the matrix's own texture, reads it back and looks for the pivot on the CPU while the
// GPU reduces the rest; finished rows of U and multipliers are read back too, and kept there. Here the column has a
// texture of its own, because GL forbids to draw to what is read, the search is a pass, and L and U stay in the matrix,
// their rows exchanged with the others (plu/columns/rank1.frag): nothing waits for the CPU. What the thesis leaves open:
// a width that four does not divide is padded with zeros, a column of zeros keeps its row and has multipliers of zero,
// and of equal candidates the first is the pivot, as in LAPACK. START, before the first step, only takes out column 0.
//
// A fragment computes one row of the column.
// A      rows x columns, four elements of a row in a texel      left   the extra column of the step before
// Cost per fragment: 5 fetches, 2 flop and 1 division.
// Fetches: 3 - 2 * START to 5 - 4 * START.
// Brodtkorb, Saetra and Fladby, "PLU factorization on a cluster of GPUs using fast Ethernet" (2007), section A.3.2 and
// figure A.3, in Brodtkorb, "A MATLAB Interface to the GPU" (2007), appendix A.

#ifndef START
#define START 0  // take out column 0 (0, 1)
#endif

#include "plu/columns/vectors.glsl"
#include "lib/divide.glsl"
#if START == 0
#include "plu/columns/column_pivot.glsl"
#endif

uniform sampler2D A;
#if START == 0
uniform sampler2D left;
uniform int k;
uniform int columns;  // of A
#endif

layout(location = 0) out vec4 column;

void main() {
    int i = int(gl_FragCoord.y);
#if START
    column = vec4(0.0, 0.0, element(A, i, 0), 0.0);
#else
    int p = column_pivot(k).x;
    int source = exchanged(i, k, p);
    float l = multiplier(texelFetch(left, ivec2(0, source), 0).b, texelFetch(left, ivec2(0, p), 0).b);
    float next = k + 1 < columns ? element(A, source, k + 1) - l * element(A, p, k + 1) : 0.0;
    column = vec4(l, 0.0, next, 0.0);
#endif
}
