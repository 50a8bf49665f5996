// Pivot search, second of two: the largest entry among `chunk` texels of column 2k+1 as it will be once column 2k is
// eliminated:
//
//     |a[i, 2k+1] - a[i, 2k] / a[p, 2k] a[p, 2k+1]|
//
// p, the pivot row of column 2k, is the best candidate of pivot/first_column.frag; each fragment looks for it itself. Rows
// r and p have not changed places yet, so at row p the fragment looks at row r.
//
// A fragment computes one candidate (norm, p, q, w), see lib/offer.glsl. For a factorisation w is the largest entry seen
// in both columns, and p saves the reader of the candidate another search. For an echelon form p is -1, and w is the sum
// of magnitudes in the reduced column over the rows already reduced, row r among them if column 2k has a pivot.
//
// A           rows x columns, packed
// firsts      the candidates of pivot/first_column.frag, a column of texels
// record      for an echelon form, the records so far, see pivot/record.frag
// tolerance   for an echelon form 1x1: absolute and relative, see pivot/threshold.glsl
// Cost per fragment: `chunk` fetches, one for each candidate of the first search; 4 to 6 flop, 1 division for each row.
// Fetches: 8 to chunk + 16 + (shape_x / 2 + chunk) / chunk + 2 * (FIXED == 0).
// LAPACK getf2 (partial pivoting).

#include "pivot/column_search.glsl"
#include "lib/pivots.glsl"
#include "pivot/threshold.glsl"

uniform sampler2D firsts;
#if FIXED == 0
uniform sampler2D tolerance;
#define LIMITS texelFetch(tolerance, ivec2(0), 0).rg
#else
#define LIMITS vec2(0.0)
#endif

layout(location = 0) out vec4 candidate;

// The pivot of column 2k.
bool found = false;          // it has a pivot
int p = -1;                  // the pivot's row
vec2 pivot = vec2(0.0);      // the row's entries in both columns
vec2 displaced = vec2(0.0);  // those of row r, which changes places with it

vec4 best_of_firsts() {
    int height = (shape.x + 1) >> 1;
    ivec2 first = ivec2(0);
#if FIXED
    first = ivec2(k, 0);
    height -= (top >> 1) + k;
#endif
    return best_candidate(firsts, first, (height + chunk - 1) / chunk);
}

void take_first_pivot() {
    vec4 leader = best_of_firsts();
    found = leader.x > threshold(LIMITS, leader.w, float(r));
    if (!found) return;
    p = int(leader.y);
    pivot = row_pair(A, p, k);
    displaced = row_pair(A, r, k);
}

float reduced(vec2 row) {  // the row's entry in column 2k+1 as it will be
    return found ? row.y - multiplier(row.x, pivot.x) * pivot.y : row.y;
}

void look_at(int i, vec2 row) {
    if (i >= shape.x) return;
    if (i == p) row = displaced;
    bool open = i > r || (FIXED == 0 && !found && i == r);  // an echelon form stays in row r if column 2k has no pivot
    if (open && 2 * k + 1 < shape.y) offer(abs(reduced(row)), -1, i);
    if (FIXED == 1) {
        if (open) best.w = max(best.w, max(abs(row.x), abs(row.y)));
        return;
    }
    // Row r holds the first pivot by the time the second is sought, divided by it.
    if (i < r) best.w += abs(reduced(row));
    else if (found && i == r) best.w += abs(multiplier(pivot.y, pivot.x));
}

void look_at_texel(int y, vec4 block) {
    look_at(2 * y, block.rg);
    look_at(2 * y + 1, block.ba);
}

void main() {
    begin_search();
    take_first_pivot();
    look_at_all_texels();
    if (FIXED == 1) best.y = float(found ? p : r);
    candidate = best;
}
