// For vertex stages of a panel of columns: the tridiagonal form in which A is changed once for all columns of a panel.
//
//     P   row i of texels: v and w of the panel's column i, (v_2r, v_2r+1, w_2r, w_2r+1); behind the last one x, the
//         column that comes next, from its diagonal on
//     S   A before the panel: that of the step is S - sum of v_i w_i^T + w_i v_i^T
//
// What remains is rows of texels from `first` on, in two halves: texel q of A x is that of row first + q, and beside it
// that of row first + half + q. Sums over the rows are cut into slices.
//
// Dongarra, Sorensen and Hammarling, "Block reduction of matrices to condensed forms for eigenvalue computations" (1989);
// LAPACK latrd.

#ifndef SLICES
#define SLICES 1  // slices at most
#endif
#ifndef SLICE
#define SLICE 32  // texels of a slice at least
#endif
#ifndef GROUP
#define GROUP 4  // texels of A x that are multiplied with x by one fragment
#endif

#include "lib/sheet.glsl"

uniform int start;   // first column of the panel
uniform int height;  // of A, in texels

flat out int k;  // column of the step; start - 1 before the first one
flat out int j;  // and its number in the panel
flat out int first;
flat out int part;  // texels of a half
flat out int chunk;   // of a slice
flat out int slices;
flat out int groups;

void begin_column() {
    k = begin_pass() - 1;
    j = k - start;
    first = (k + 1) >> 1;
    part = (height - first + 1) >> 1;
    chunk = max(SLICE, (height - first + SLICES - 1) / SLICES);
    slices = (height - first + chunk - 1) / chunk;
    groups = (part + GROUP - 1) / GROUP;
}
