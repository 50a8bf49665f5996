// What all fragments of a pass of a panel share: in a search for the second pivot of step k the first pivot row's number, in
// step k both, their 2x2 block (plu/rank2/eliminate.vert), and what the search for the next pivot needs of them. A GPU waits
// for each fetch that needs another's result, so all are made here at once.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif
#ifndef MEET
#define MEET 0  // fragments that search meet in blocks of 2 x 2, see lib/meet.glsl (0, 1)
#endif
#define STRIDE (1 + MEET)
#define AT_ONCE 32

#include "lib/sheet.glsl"
#include "lib/pivots.glsl"
#include "plu/blocked/panel.glsl"

uniform sampler2D A;
uniform sampler2D candidates;
uniform int chunk;    // texels that one fragment searches, unless fragments meet
uniform int top;      // first row of the panel
uniform ivec2 shape;  // rows and columns of the panel's matrix

flat out int k;          // step, -1 before the first
flat out int searching;  // the second pivot is searched (1)
flat out int searched;   // texels that one fragment searches
flat out ivec2 exchange;
flat out vec4 block;
flat out vec4 record;    // (p, q, norm, largest entry seen)
flat out vec4 pivots;    // the pivot rows in the next texel column, the lower one reduced
flat out vec4 displaced;       // rows r and r + 1 before the step, in its texel column
flat out vec4 displaced_next;  // and in the next one

int aligned(int row) {
    return MEET == 1 ? row & ~1 : row;
}

int candidates_of(int rows) {  // rows of texels
#if MEET
    return (rows + 4 * SEARCHED - 1) / (4 * SEARCHED);
#else
    return (rows + searched - 1) / searched;
#endif
}

void main() {
    int pass = begin_pass();
    int width = (shape.y + 1) >> 1;
    int height = (shape.x + 1) >> 1;
    k = (pass + 1) / 2 - 1;
    searching = pass & 1;
    searched = MEET == 1 ? SEARCHED : chunk;
    exchange = ivec2(-1);
    block = record = pivots = displaced = displaced_next = vec4(0.0);
    int row = (top >> 1) + k;

    ivec2 first = ivec2(column_of(2), 0);
    if (searching == 1 || PAIR == 1) first += ivec2(CANDIDATES, aligned(row));
    if (searching == 1) {
        vec4 leader = best_candidate(candidates, first, candidates_of(height - row));
        if (leader.x > 0.0) exchange.x = int(leader.y);
    } else if (k >= 0) {
        displaced = texelFetch(A, at(ivec2(k, row)), 0);
        displaced_next = texelFetch(A, at(ivec2(k + 1, row)), 0);
        record = winners(candidates, first, candidates_of(height - row), 2 * row, PAIR == 1);
        exchange = ivec2(record.xy);
        record.xy = vec2(exchange);
        pivots.rg = row_pair(A, source_row(2 * row, 2 * row, exchange.x, 2 * row + 1, exchange.y), k + 1);
        pivots.ba = row_pair(A, source_row(2 * row + 1, 2 * row, exchange.x, 2 * row + 1, exchange.y), k + 1);
        block = pivot_block(A, k, 2 * row, exchange);
        pivots.ba -= block.z * pivots.rg;
    }

    int next = searching == 1 ? row : row + 1;  // from where candidates are left
    int count = k + 1 < width || searching == 1 ? max(0, candidates_of(height - next)) : 0;
    if (searching == 1) {
        gl_Position = corner_of(ivec4(0, 0, STRIDE, STRIDE * count), ivec4(0));
    } else {
        int start = k < 0 ? aligned(next) : row;
        int end = max(aligned(next) + STRIDE * count, row + 1);
        ivec4 matrix = k < 0 ? ivec4(0) : ivec4(k, row, width - k, height - row);
        gl_Position = corner_of(matrix, ivec4(CANDIDATES, start, 2, end - start));
    }
}
