// A pass of the factorisation of a panel: a search for a second pivot, or a step, and in it the search for the next first one.
//
// Every pass waits for the one before, so this is the only program. The fragments that search do not wait for the reduced
// column: each reduces the `chunk` of rows that it looks at itself. Before the first step a pass searches alone (k = -1).
//
// A fragment computes one texel of the panel after the step (plu/doolittle.glsl), or of the two columns beside it, from
// column b = 32 on:
//     x = b       from row of texels (top >> 1) + k + 1 on, the candidates for step k + 1: for its first column (PAIR = 0)
//                 or for both (PAIR = 1, see lib/block_norm.glsl); with MEET in blocks of 2 x 2 texels
//     x = b + 1   in row (top >> 1) + k, the record of step k: (p, q, norm, largest entry seen)
// or a candidate (norm, p, q, largest entry seen) for the second pivot, in column 2k+1 as it will be (see
// pivot/second_column.frag).
// A            the panel before the step, rows x columns, packed, with the two columns
// candidates   those for the pivots of the step, or for its first one
// Cost per fragment: 4 or 5 fetches, 16 flop and 4 divisions; of one that searches, 2 fetches for each of its texels.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3; LAPACK getf2.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for the first column (0)
#endif
#ifndef MEET
#define MEET 0  // fragments that search meet in blocks of 2 x 2, see lib/meet.glsl (0, 1)
#endif

#include "plu/doolittle.glsl"
#include "lib/block_norm.glsl"
#include "plu/blocked/panel.glsl"
#if MEET
#include "lib/meet.glsl"
#endif

uniform ivec2 shape;  // rows and columns of the panel's matrix

flat in int searching;
flat in int searched;
flat in vec4 record;  // of this step
flat in vec4 pivots;  // the pivot rows in the next texel column, the lower one reduced
flat in vec4 displaced;       // rows r and r + 1 before the step
flat in vec4 displaced_next;  // in the next texel column

layout(location = 0) out vec4 result;

// Entries of a row below the pivot rows in texel column k and in another one: those that `first` and `other` have of row r
// or r + 1, if it changes places with that.
void take_row(int i, vec4 first, vec4 other, inout vec2 lead, inout vec2 entries) {
    if (i != exchange.x && i != exchange.y) return;
    bool upper = i != exchange.y || exchange.x == top + 2 * k + 1;
    lead = upper ? first.rg : first.ba;
    entries = upper ? other.rg : other.ba;
}

// Row y of texels below the pivot rows after the step. rows: the pivot rows; other: rows r and r + 1 before the step.
vec4 less_pivots(int y, vec4 lead, vec4 entries, vec4 other, vec4 rows, bool leading) {
    take_row(2 * y, displaced, other, lead.rg, entries.rg);
    take_row(2 * y + 1, displaced, other, lead.ba, entries.ba);
    vec4 l = vec4(multipliers(lead.rg), multipliers(lead.ba));
    if (leading) return l;
    return vec4(less_multiples(entries.rg, l.rg, rows.rg, rows.ba), less_multiples(entries.ba, l.ba, rows.rg, rows.ba));
}

void look_at_texel(int y, vec4 entries) {
#if PAIR
    look_at_block(y, entries, top + 2 * k + 2, shape.x, 2 * k + 3 >= shape.y, 0.0);
#else
    offer(abs(entries.r), 2 * y, -1);
    if (2 * y + 1 < shape.x) offer(abs(entries.b), 2 * y + 1, -1);
#endif
}

// Looks at rows of texels from `start` to `end` for the next first pivot, or for both.
void search_next(int start, int end) {
    for (int y = start; y < end; y += SEARCHED) {
        vec4 lead[SEARCHED];
        vec4 entries[SEARCHED];
        for (int i = 0; i < SEARCHED; ++i) {
            lead[i] = texelFetch(A, at(ivec2(max(k, 0), min(y + i, end - 1))), 0);
            entries[i] = texelFetch(A, at(ivec2(k + 1, min(y + i, end - 1))), 0);
        }
        for (int i = 0; i < SEARCHED; ++i) {
            if (y + i >= end) break;
            vec4 found = entries[i];
            if (k >= 0) found = less_pivots(y + i, lead[i], found, displaced_next, pivots, false);
            look_at_texel(y + i, found);
        }
    }
}

// A row offered for the second pivot. pair: entries of the first pivot row, and of the row that it changes places with.
void look_at_row(int i, vec2 row, vec4 pair) {
    if (i >= shape.x || i <= top + 2 * k) return;
    if (i == exchange.x) row = pair.ba;
    float entry = exchange.x >= 0 ? row.y - multiplier(row.x, pair.r) * pair.g : row.y;
    if (2 * k + 1 < shape.y) offer(abs(entry), -1, i);
    best.w = max(best.w, max(abs(row.x), abs(row.y)));
}

// Looks at rows of texels from `start` to `end` for the second pivot.
void search_second(int start, int end) {
    vec4 pair = exchange.x < 0 ? vec4(0.0) : vec4(row_pair(A, exchange.x, k), row_pair(A, top + 2 * k, k));
    for (int y = start; y < end; y += SEARCHED) {
        vec4 some[SEARCHED];
        for (int i = 0; i < SEARCHED; ++i) some[i] = texelFetch(A, at(ivec2(k, min(y + i, end - 1))), 0);
        for (int i = 0; i < SEARCHED; ++i) {
            if (y + i >= end) break;
            look_at_row(2 * (y + i), some[i].rg, pair);
            look_at_row(2 * (y + i) + 1, some[i].ba, pair);
        }
    }
}

// The candidate of texel (x, y) among candidates for rows of texels from `start` on.
vec4 candidate(int x, int y, int start) {
#if MEET
    y = 4 * (y >> 1) + 2 * (y & 1) + x;
#endif
    start += y * searched;
    int end = min(start + searched, (shape.x + 1) >> 1);
    if (searching == 1) search_second(start, end);
    else search_next(start, end);
#if MEET
    best = met(best);
#endif
    return best;
}

vec4 stepped(ivec2 texel, int row) {
    vec4 own = texelFetch(A, at(texel), 0);
    vec4 lead = texelFetch(A, at(ivec2(k, texel.y)), 0);
    vec4 rows = pivot_rows(texel.x);
    if (texel.y == row) return texel.x == k ? block : rows;
    vec4 other = vec4(0.0);
    if (texel.y == exchange.x >> 1 || texel.y == exchange.y >> 1) other = texelFetch(A, at(ivec2(texel.x, row)), 0);
    return less_pivots(texel.y, lead, own, other, rows, texel.x == k);
}

void main() {
    ivec2 texel = own_texel();
    int width = (shape.y + 1) >> 1;
    int row = (top >> 1) + k;
    if (searching == 1) {
        result = candidate(texel.x, texel.y, row);
        result.y = float(exchange.x >= 0 ? exchange.x : 2 * row);
    } else if (texel.x < width) {
        result = without_padding(stepped(texel, row), texel, shape);
    } else {
        int first = MEET == 1 ? (row + 1) & ~1 : row + 1;
        bool searches = texel.x >= CANDIDATES && texel.y >= first && k + 1 < width && (MEET == 1 || texel.x == CANDIDATES);
        result = searches ? candidate(texel.x - CANDIDATES, texel.y - first, row + 1) : vec4(0.0);
        if (texel == ivec2(RECORDS, row)) result = record;
    }
}
