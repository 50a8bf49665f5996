// y[i] = sum over the entries of row i: entries row by row, and a pointer to the first of each row.
//
// A fragment computes four consecutive rows, one after the other.
// A         (value, column) of each entry        pointers  (first entry, entries) of each row
// x, y      wrapped                              before    CONTINUE: the sum over earlier entries
// Cost per fragment: 4 fetches, and 2 and 2 flop for an entry.
// Fetches: 4 to 4 + CONTINUE + 8 * trips_y - 8 * trips_x.
// Bolz, Farmer, Grinspun and Schroeder, "Sparse matrix solvers on the GPU: conjugate gradients and multigrid" (2003),
// section 3.2; Brodtkorb, "A MATLAB Interface to the GPU" (2007), figure 3.3b.

#ifndef POINTERS_WIDTH
#define POINTERS_WIDTH 1  // texels in a row of `pointers`
#endif
#ifndef ROWS
#define ROWS 1  // rows of the matrix
#endif
#ifndef A_WIDTH
#define A_WIDTH 1  // texels in a row of A
#endif
#ifndef X_WIDTH
#define X_WIDTH 1  // texels in a row of x
#endif

uniform sampler2D A;
uniform isampler2D pointers;
uniform sampler2D x;
uniform ivec2 trips;  // first entry of a row in this pass, and the one behind its last

layout(location = 0) out vec4 y;

#include "spmv/sparse.glsl"

float row(int i) {
    ivec2 own = texelFetch(pointers, place_of(min(i, ROWS - 1), POINTERS_WIDTH), 0).rg;
    int end = i < ROWS ? min(trips.y, own.g) : 0;
    float sum = 0.0;
    for (int j = trips.x; j < end; ++j) {
        vec2 entry = texelFetch(A, place_of(own.r + j, A_WIDTH), 0).rg;
        int column = int(entry.g);
        sum += term(entry.r, channel(texelFetch(x, place_of(column >> 2, X_WIDTH), 0), column));
    }
    return sum;
}

void main() {
    int i = 4 * own_texel();
    y = vec4(row(i), row(i + 1), row(i + 2), row(i + 3));
#if CONTINUE
    y += texelFetch(before, ivec2(gl_FragCoord.xy), 0);
#endif
}
