// For vertex stages of a panel of columns, in which A is changed once for all of them: the tridiagonal form, and the
// bidiagonal form (SIDES 2), whose reflectors are from the left and from the right in turn.
//
//     S   A before the panel, n x n, packed. That of a step is S - sum of v_i y_i^T + x_i u_i^T
//     R   row i of texels: (a_i, x_i-1), two entries of each: column i of the panel from the diagonal on, as it was before
//         it was reflected, and x. Behind its first entry v_i is a_i; that is alpha - beta. In entry k of x_i is beta
//     C   likewise (y_i, b_i): rows b_i, which are u_i. Tridiagonal: S is symmetric, y_i = x_i, u_i = v_i; there is no C
//     P   that of the two which has the column (or row) x that is reflected; of a step the other one, which it draws
//
// What remains is rows of texels from `first` on, in two halves: texel q of S x is that of row first + q, and beside it
// that of row first + part + q. Sums over the rows are cut into slices.
//
// Dongarra, Sorensen and Hammarling, "Block reduction of matrices to condensed forms for eigenvalue computations" (1989);
// LAPACK latrd and labrd.

#ifndef SIDES
#define SIDES 1  // sides of the reflectors (1, 2)
#endif
#ifndef SLICES
#define SLICES 1  // slices at most
#endif
#ifndef SLICE
#define SLICE 32  // texels of a slice at least
#endif
#ifndef GROUP
#define GROUP 0  // texels of S x that are multiplied with x by one fragment, if that is wanted
#endif

#include "lib/sheet.glsl"

uniform int start;   // first column of the panel
uniform int height;  // of A, in texels

flat out int k;     // column of the step; start - 1 before the first one
flat out int j;     // and its number in the panel
flat out int side;  // 0: a reflector of the bidiagonal form from the left
flat out int top;   // first row of x
flat out int first;
flat out int part;   // texels of a half
flat out int chunk;  // of a slice
flat out int slices;
flat out int groups;

void begin_column() {
    k = begin_pass() - 1;
    side = 1;
#if SIDES == 2
    side = k & 1;
    k >>= 1;
#endif
    top = k + side;
    j = k - start;
    first = top >> 1;
    part = (height - first + 1) >> 1;
    chunk = max(SLICE, (height - first + SLICES - 1) / SLICES);
    slices = (height - first + chunk - 1) / chunk;
#if GROUP
    groups = (part + GROUP - 1) / GROUP;
#else
    groups = 0;
#endif
}
