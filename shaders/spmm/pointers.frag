// Y[i, :] = sum over the entries of row i, times rows of X: entries row by row, as in `spmv/pointers.frag`.
//
// A fragment computes four columns of one row.
// A       (value, column) of each entry        pointers  (first entry, entries) of each row
// X, Y    wrapped, rows of QUADS texels        before    CONTINUE: the sum over earlier entries
// Cost per fragment: 1 fetch, and 2 and 8 flop for an entry.
// Fetches: 0 to 1 + CONTINUE + 2 * trips_y - 2 * trips_x.
// Bolz, Farmer, Grinspun and Schroeder, "Sparse matrix solvers on the GPU: conjugate gradients and multigrid" (2003),
// section 3.2; Brodtkorb, "A MATLAB Interface to the GPU" (2007), figure 3.3b.

#ifndef POINTERS_WIDTH
#define POINTERS_WIDTH 1  // texels in a row of `pointers`
#endif
#ifndef A_WIDTH
#define A_WIDTH 1  // texels in a row of A
#endif

uniform sampler2D A;
uniform isampler2D pointers;
uniform sampler2D X;
uniform ivec2 trips;  // first entry of a row in this pass, and the one behind its last

layout(location = 0) out vec4 Y;

#include "spmm/sparse_rows.glsl"

void main() {
    Own own = own_row();
    Y = vec4(0.0);
    if (own.row >= ROWS) return;
    Y = begun();
    ivec2 range = texelFetch(pointers, place_of(own.row, POINTERS_WIDTH), 0).rg;
    int end = min(trips.y, range.g);
    for (int j = trips.x; j < end; ++j) {
        vec2 entry = texelFetch(A, place_of(range.r + j, A_WIDTH), 0).rg;
        Y += scaled_row(entry.r, int(entry.g), own.quad);
    }
}
