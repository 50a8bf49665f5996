// A pass of the factorisation of a panel: a search for a second pivot, or a step, and in it the search for the next first one.
//
// Every pass waits for the one before, so a panel costs as much as it has passes, and as little as there is between them:
// this is the only program. The fragments that search do not wait for the reduced column: each reduces the `chunk` of rows
// that it looks at itself. Before the first step a pass searches alone (k = -1).
//
// A fragment computes one texel of the panel after the step (plu/doolittle.glsl), or of the two columns beside it, from an
// even column b on:
//     x = b       from row of texels (top >> 1) + k + 1 on, the candidates for step k + 1: for its first column (PAIR = 0)
//                 or for both (PAIR = 1, see lib/block_norm.glsl); with MEET in blocks of 2 x 2 texels
//     x = b + 1   in row (top >> 1) + k, the record of step k: (p, q, norm, largest entry seen)
// or a candidate (norm, p, q, largest entry seen) for the second pivot, in column 2k+1 as it will be (see
// pivot/second_column.frag).
// A            the panel before the step, rows x columns, packed, with the two columns
// candidates   those for the pivots of the step, or for its first one
// Cost per fragment: up to 6 fetches, 16 flop and 4 divisions; of one that searches, 2 fetches for each of its texels.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3; LAPACK getf2.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for the first column (0)
#endif
#ifndef MEET
#define MEET 0  // fragments that search meet in blocks of 2 x 2, see lib/meet.glsl (0, 1)
#endif

#include "plu/doolittle.glsl"
#include "lib/block_norm.glsl"
#if MEET
#include "lib/meet.glsl"
#endif

uniform ivec2 shape;  // rows and columns of the panel's matrix

flat in int searching;
flat in int searched;
flat in vec4 record;  // of this step

layout(location = 0) out vec4 result;

const int TOGETHER = 4;  // fetches under way at once

void look_at_texel(int y, vec4 entries) {
#if PAIR
    look_at_block(y, entries, top + 2 * k + 2, shape.x, 2 * k + 3 >= shape.y, 0.0);
#else
    offer(abs(entries.r), 2 * y, -1);
    if (2 * y + 1 < shape.x) offer(abs(entries.b), 2 * y + 1, -1);
#endif
}

// Below the pivot rows, only the rows that these come from get another one.
bool moved(int i) {
    return i == exchange.x || i == exchange.y;
}

vec4 reduced_texel(int y, vec4 lead, vec4 entries, vec4 pivots) {
    vec2 upper = less_multiples(entries.rg, multipliers(lead.rg), pivots.rg, pivots.ba);
    vec2 lower = less_multiples(entries.ba, multipliers(lead.ba), pivots.rg, pivots.ba);
    if (moved(2 * y)) upper = reduced_row(2 * y, k + 1, pivots.rg, pivots.ba);
    if (moved(2 * y + 1)) lower = reduced_row(2 * y + 1, k + 1, pivots.rg, pivots.ba);
    return vec4(upper, lower);
}

// A row offered for the second pivot. block: the first pivot row's entries, and those of the row that it changes places with.
void look_at_row(int i, vec2 row) {
    if (i >= shape.x) return;
    if (i == exchange.x) row = block.ba;
    if (i <= top + 2 * k) return;
    float entry = exchange.x >= 0 ? row.y - multiplier(row.x, block.r) * block.g : row.y;
    if (2 * k + 1 < shape.y) offer(abs(entry), -1, i);
    best.w = max(best.w, max(abs(row.x), abs(row.y)));
}

// Looks at `searched` rows of texels from `start` on, or fewer at the end.
void look_at_all(int start) {
    int end = min(start + searched, (shape.x + 1) >> 1);
    vec4 pivots = searching == 0 && k >= 0 && start < end ? pivot_rows(k + 1) : vec4(0.0);
    for (int y = start; y < end; y += TOGETHER) {
        vec4 lead[TOGETHER];
        vec4 entries[TOGETHER];
        for (int i = 0; i < TOGETHER; ++i) {
            lead[i] = texelFetch(A, at(ivec2(max(k, 0), min(y + i, end - 1))), 0);
            entries[i] = texelFetch(A, at(ivec2(k + 1 - searching, min(y + i, end - 1))), 0);
        }
        for (int i = 0; i < TOGETHER; ++i) {
            if (y + i >= end) break;
            if (searching == 1) {
                look_at_row(2 * (y + i), entries[i].rg);
                look_at_row(2 * (y + i) + 1, entries[i].ba);
            } else {
                look_at_texel(y + i, k < 0 ? entries[i] : reduced_texel(y + i, lead[i], entries[i], pivots));
            }
        }
    }
}

// The candidate of texel (x, y) among candidates for rows of texels from `start` on.
vec4 candidate(int x, int y, int start) {
#if MEET
    y = 4 * (y >> 1) + 2 * (y & 1) + x;
#endif
    look_at_all(start + y * searched);
#if MEET
    best = met(best);
#endif
    return best;
}

void main() {
    ivec2 texel = own_texel();
    int width = (shape.y + 1) >> 1;
    int beside = (width + 1) & ~1;
    int row = (top >> 1) + k;
    if (searching == 1) {
        result = candidate(texel.x, texel.y, row);
        result.y = float(exchange.x >= 0 ? exchange.x : 2 * row);
    } else if (texel.x < width) {
        result = without_padding(reduced(texel), texel, shape);
    } else {
        int first = MEET == 1 ? (row + 1) & ~1 : row + 1;
        bool searches = texel.y >= first && k + 1 < width && (MEET == 1 || texel.x == beside);
        result = searches ? candidate(texel.x - beside, texel.y - first, row + 1) : vec4(0.0);
        if (texel == ivec2(beside + 1, row)) result = record;
    }
}
