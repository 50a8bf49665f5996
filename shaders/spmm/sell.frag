// Y[i, :] = sum over the entries of row i, times rows of X: rows in tiles, as in `spmv/sell.frag`.
//
// A fragment computes four columns of one row: one channel of the texels of its tile.
// A, columns, spans  as there, places in vectors whose textures are X_VECTOR and Y_VECTOR texels wide
// X, Y    wrapped, rows of QUADS texels
// Cost per fragment: 1 fetch, and 3 and 8 flop for an entry of the longest of four rows.
// Fetches: 0 to 1 + 3 * LONGEST.
// Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units" (2014), section 3.

#ifndef X_VECTOR
#define X_VECTOR 1  // texels in a row of a vector with an element for each column
#endif
#ifndef Y_VECTOR
#define Y_VECTOR 1  // texels in a row of a vector with an element for each row
#endif

uniform sampler2D A;
uniform isampler2D columns;
uniform isampler2D spans;
uniform sampler2D X;

layout(location = 0) out vec4 Y;

#include "spmm/sparse_rows.glsl"
#include "lib/tiles.glsl"

int column_at(ivec2 at, int row) {
#if SHORT
    return min(row + offsets_at(at)[row & 3], COLUMNS - 1);
#else
    return element_at(texelFetch(columns, at, 0)[row & 3], X_VECTOR);
#endif
}

void main() {
    Own own = own_row();
    Y = vec4(0.0);
    if (own.row >= ROWS) return;
    ivec2 texel = place_of(own.row >> 2, Y_VECTOR);
    ivec2 span = texelFetch(spans, texel, 0).rg;
    for (int j = 0; j < LONGEST; ++j) {
        if (j >= span.g) break;
        ivec2 at = block_at(span.r + j, texel);
        Y += scaled_row(texelFetch(A, at, 0)[own.row & 3], column_at(at, own.row), own.quad);
    }
}
