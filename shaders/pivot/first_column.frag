// Pivot search, first of two: the largest |a[i, 2k]| among `chunk` texels of column 2k.
//
// A fragment computes one candidate (|a[p, 2k]|, p, -1, w), see lib/offer.glsl. For a factorisation w is the largest
// entry seen in both columns. For an echelon form it is the sum of |a[i, 2k]| over the rows already reduced.
//
// A        rows x columns, packed
// record   for an echelon form, the records so far, see pivot/record.frag
// Cost per fragment: `chunk` fetches; 1 to 3 flop for each row.
// Fetches: 8 to chunk + 7 + (FIXED == 0).
// LAPACK getf2 (partial pivoting).

#include "pivot/column_search.glsl"

layout(location = 0) out vec4 candidate;

void look_at(int i, vec2 row) {
    if (i >= shape.x) return;
    if (i >= r) offer(abs(row.x), i, -1);
#if FIXED
    if (i >= r) best.w = max(best.w, max(abs(row.x), abs(row.y)));
#else
    if (i < r) best.w += abs(row.x);
#endif
}

void look_at_texel(int y, vec4 block) {
    look_at(2 * y, block.rg);
    look_at(2 * y + 1, block.ba);
}

void main() {
    begin_search();
    look_at_all_texels();
    candidate = best;
}
