// y[i] = sum over the entries of row i: tiles of rows, each as wide as its longest row.
//
// A fragment computes four consecutive rows, the channels of its texels, and stops behind the longest of them. y is cut
// into tiles of texels that are drawn together. Entry number j of all rows of a tile is a block of A, of the same height
// and width: a texel is there where its rows are in the tile, so that neighbours fetch from neighbours.
//
//     y +----+----+     A +----+----+----+----+     Tiles S, three entries wide, and T, two.
//       | S  | T  |       | S0 | S1 | S2 | T0 |     ACROSS blocks are side by side. Shorter rows end in zeros.
//       +----+----+       +----+----+----+----+
//                         | T1 |
// A        entries, in blocks
// columns  of the entries: with SHORT minus their rows, where a zero of a row's end counts from its row, too; otherwise
//          their places in x
// spans    of each texel of y, the first block of its tile, and the entries of the longest of its rows
// x, y     wrapped
// Cost per fragment: 1 fetch, and 6 and 8 flop for an entry of the longest row.
// Fetches: 1 to 1 + 6 * LONGEST.
// Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units" (2014), section 3: their slices are 1 x C.

#ifndef COLUMNS
#define COLUMNS 1  // columns of the matrix
#endif
#ifndef X_WIDTH
#define X_WIDTH 1  // texels in a row of x
#endif

uniform sampler2D A;
uniform isampler2D columns;
uniform isampler2D spans;
uniform sampler2D x;

layout(location = 0) out vec4 y;

#include "spmv/sparse.glsl"
#include "lib/tiles.glsl"

#if SHORT
float element(int column) {
    return channel(texelFetch(x, place_of(column >> 2, X_WIDTH), 0), column);
}

vec4 elements_at(ivec2 at, int row) {
    ivec4 column = min(ivec4(row, row + 1, row + 2, row + 3) + offsets_at(at), COLUMNS - 1);
    return vec4(element(column.r), element(column.g), element(column.b), element(column.a));
}
#else
vec4 elements_at(ivec2 at, int row) {
    ivec4 place = texelFetch(columns, at, 0);
    return vec4(x_at(place.r), x_at(place.g), x_at(place.b), x_at(place.a));
}
#endif

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    ivec2 span = texelFetch(spans, own, 0).rg;
    int row = 4 * own_texel();
    y = vec4(0.0);
    for (int j = 0; j < LONGEST; ++j) {
        if (j >= span.g) break;
        ivec2 at = block_at(span.r + j, own);
        y += terms(texelFetch(A, at, 0), elements_at(at, row));
    }
}
