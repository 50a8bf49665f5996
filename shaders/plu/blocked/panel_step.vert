// What all fragments of a pass of a panel share: in a search for the second pivot of step k the first pivot row, in step k
// itself both pivot rows and the constants of their 2x2 block, as in plu/rank2/eliminate.vert.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif
#ifndef MEET
#define MEET 0  // fragments that search meet in blocks of 2 x 2, see lib/meet.glsl (0, 1)
#endif
#define STRIDE (1 + MEET)
#define AT_ONCE 16

#include "lib/sheet.glsl"
#include "lib/pivots.glsl"

uniform sampler2D A;
uniform sampler2D candidates;
uniform int chunk;    // texels that one fragment searches
uniform int top;      // first row of the panel
uniform ivec2 shape;  // rows and columns of the panel's matrix

flat out int k;          // step, -1 before the first
flat out int searching;  // the second pivot is searched (1)
flat out int searched;   // texels that one fragment searches
flat out ivec2 exchange;
flat out vec4 block;
flat out vec4 record;    // (p, q, norm, largest entry seen)

int aligned(int row) {
    return MEET == 1 ? row & ~1 : row;
}

void main() {
    int pass = begin_pass();
    k = (pass + 1) / 2 - 1;
    searching = pass & 1;
    searched = MEET == 1 ? min(chunk, 8) : chunk;
    exchange = ivec2(-1);
    block = record = vec4(0.0);
    int width = (shape.y + 1) >> 1;
    int height = (shape.x + 1) >> 1;
    int beside = (width + 1) & ~1;
    int row = (top >> 1) + k;
    int many = MEET == 1 ? 4 * searched : searched;  // texels of a candidate

    ivec2 first = ivec2(column_of(2), 0);
    if (searching == 1 || PAIR == 1) first += ivec2(beside, aligned(row));
    if (searching == 1) {
        vec4 leader = best_candidate(candidates, first, (height - row + many - 1) / many);
        if (leader.x > 0.0) {
            exchange.x = int(leader.y);
            block = vec4(row_pair(A, exchange.x, k), row_pair(A, 2 * row, k));
        }
    } else if (k >= 0) {
        record = factor_pivots(candidates, first, 2 * row, shape.x, many, PAIR == 1);
        exchange = ivec2(record.xy);
        record.xy = vec2(exchange);
        block = pivot_block(A, k, 2 * row, exchange);
    }

    int next = searching == 1 ? row : row + 1;  // from where candidates are left
    int count = k + 1 < width || searching == 1 ? max(0, (height - next + many - 1) / many) : 0;
    if (searching == 1) {
        gl_Position = corner_of(ivec4(0, 0, STRIDE, STRIDE * count), ivec4(0));
    } else {
        int start = k < 0 ? aligned(next) : row;
        int end = max(aligned(next) + STRIDE * count, row + 1);
        gl_Position = corner_of(k < 0 ? ivec4(0) : ivec4(k, row, width - k, height - row), ivec4(beside, start, 2, end - start));
    }
}
