// A step of the factorisation of a panel, and the search for the next pivots, in one pass.
//
// Every pass waits for the one before, so a panel costs as much as it has passes. The fragments that search do not wait
// for the reduced column: each reduces the `chunk` of rows that it looks at itself.
//
// A fragment computes one texel of the panel after the step (plu/doolittle.glsl), or of the two columns beside it:
//     x = width       from row of texels (top >> 1) + k + 1 on, the candidates for step k + 1: for its first column
//                     (PAIR = 0, as pivot/first_column.frag) or for both (PAIR = 1, as pivot/block_norm.frag)
//     x = width + 1   in row (top >> 1) + k, the record of step k: (p, q, norm, largest entry seen)
// A   the panel before the step, rows x columns, packed, with the two columns
// Cost per fragment: up to 6 fetches, 16 flop and 4 divisions; of one that searches, 2 fetches for each of its texels.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3; LAPACK getf2.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for the first column (0)
#endif

#include "plu/doolittle.glsl"
#include "lib/block_norm.glsl"

uniform ivec2 shape;  // rows and columns of the panel's matrix
uniform int chunk;    // texels that one fragment searches

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

// The candidate among `chunk` rows of texels from `start` on, or fewer at the end.
vec4 candidate(int start) {
    int end = min(start + chunk, (shape.x + 1) >> 1);
    vec4 pivots = pivot_rows(k + 1);
    for (int y = start; y < end; y += TOGETHER) {
        vec4 lead[TOGETHER];
        vec4 entries[TOGETHER];
        for (int i = 0; i < TOGETHER; ++i) {
            lead[i] = texelFetch(A, ivec2(k, min(y + i, end - 1)), 0);
            entries[i] = texelFetch(A, ivec2(k + 1, min(y + i, end - 1)), 0);
        }
        for (int i = 0; i < TOGETHER; ++i) {
            if (y + i < end) {
                vec2 upper = less_multiples(entries[i].rg, multipliers(lead[i].rg), pivots.rg, pivots.ba);
                vec2 lower = less_multiples(entries[i].ba, multipliers(lead[i].ba), pivots.rg, pivots.ba);
                if (moved(2 * (y + i))) upper = reduced_row(2 * (y + i), k + 1, pivots.rg, pivots.ba);
                if (moved(2 * (y + i) + 1)) lower = reduced_row(2 * (y + i) + 1, k + 1, pivots.rg, pivots.ba);
                look_at_texel(y + i, vec4(upper, lower));
            }
        }
    }
    return best;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int width = (shape.y + 1) >> 1;
    int row = texel.y - (top >> 1) - k;  // of texels, from the pivot rows on
    if (texel.x < width) {
        result = without_padding(reduced(texel), texel, shape);
    } else if (texel.x > width) {
        result = row == 0 ? record : texelFetch(A, texel, 0);
    } else {
        int start = (top >> 1) + k + 1 + (row - 1) * chunk;
        result = row > 0 && k + 1 < width && 2 * start < shape.x ? candidate(start) : vec4(0.0);
    }
}
