// Y[i, :] = sum over the blocks of two rows, times rows of X: 2 x 2 blocks, as in `spmv/blocks.frag`.
//
// A fragment computes four columns of one row: the upper or the lower half of its blocks.
// A, columns, pointers  as there, places in vectors whose textures are X_VECTOR texels wide
// X, Y    wrapped, rows of QUADS texels        before  CONTINUE: the sum over earlier blocks
// Cost per fragment: 1 fetch, and 4 and 16 flop for a block.
// Fetches: 0 to 1 + CONTINUE + 4 * trips_y - 4 * trips_x.
// Bell and Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).

#ifndef A_WIDTH
#define A_WIDTH 1  // texels in a row of A
#endif
#ifndef POINTERS_WIDTH
#define POINTERS_WIDTH 1  // texels in a row of `pointers`
#endif
#ifndef X_VECTOR
#define X_VECTOR 1  // texels in a row of a vector with an element for each column
#endif

uniform sampler2D A;
uniform isampler2D columns;
uniform isampler2D pointers;
uniform sampler2D X;
uniform ivec2 trips;  // first block of a block row in this pass, and the one behind its last

layout(location = 0) out vec4 Y;

#include "spmm/sparse_rows.glsl"

void main() {
    Own own = own_row();
    Y = vec4(0.0);
    if (own.row >= ROWS) return;
    Y = begun();
    ivec4 pair = texelFetch(pointers, place_of(own.row >> 2, POINTERS_WIDTH), 0);
    ivec2 range = (own.row & 2) == 0 ? pair.rg : pair.ba;
    int end = min(trips.y, range.g);
    for (int k = trips.x; k < end; ++k) {
        ivec2 at = place_of(range.r + k, A_WIDTH);
        vec4 block = texelFetch(A, at, 0);
        vec2 a = (own.row & 1) == 0 ? block.rg : block.ba;
        int j = element_at(texelFetch(columns, at, 0).r, X_VECTOR);
        Y += scaled_row(a.r, j, own.quad);
        Y += scaled_row(a.g, min(j + 1, COLUMNS - 1), own.quad);
    }
}
