// Y[i, :] = sum over the entries of row i, times rows of X: rows in tiles, as in `spmv/sell.frag`.
//
// A fragment computes four columns of one row: one channel of the texels of its tile. Where rows were sorted, `order`
// says where row i stands.
// A, columns, spans, order  as there, places in vectors whose textures are X_VECTOR and Y_VECTOR texels wide
// X, Y    wrapped, rows of QUADS texels        before  CONTINUE: the sum over earlier entries
// Cost per fragment: 2 fetches, and 3 and 8 flop for an entry of the longest of four rows.
// Fetches: 0 to 1 + SORTED + CONTINUE + 3 * trips_y - 3 * trips_x.
// Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units" (2014), section 3.

#ifndef X_VECTOR
#define X_VECTOR 1  // texels in a row of a vector with an element for each column
#endif
#ifndef Y_VECTOR
#define Y_VECTOR 1  // texels in a row of a vector with an element for each row
#endif
#ifndef SORTED
#define SORTED 0  // rows stand in another order (0, 1)
#endif
#ifndef CONTINUE
#define CONTINUE 0  // go on from `before` (0, 1)
#endif

uniform sampler2D A;
uniform isampler2D columns;
uniform isampler2D spans;
#if SORTED
uniform isampler2D order;
#endif
uniform sampler2D X;
#if CONTINUE
uniform sampler2D before;
#endif
uniform ivec2 trips;  // first entry of this pass, and the one behind its last

layout(location = 0) out vec4 Y;

#include "lib/sparse_rows.glsl"
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
#if CONTINUE
    Y = texelFetch(before, ivec2(gl_FragCoord.xy), 0);
#endif
    int row = own.row;
#if SORTED
    row = element_at(texelFetch(order, place_of(own.row >> 2, Y_VECTOR), 0)[own.row & 3], Y_VECTOR);
#endif
    ivec2 texel = place_of(row >> 2, Y_VECTOR);
    ivec2 span = texelFetch(spans, texel, 0).rg;
    int end = min(trips.y, span.g);
    for (int j = trips.x; j < end; ++j) {
        ivec2 at = block_at(span.r + j, texel);
        Y += scaled_row(texelFetch(A, at, 0)[row & 3], column_at(at, row), own.quad);
    }
}
