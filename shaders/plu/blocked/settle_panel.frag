// A factored panel, put together from the two textures in which its steps took turns, and where its rows came from.
//
// A step draws only what it changes, and leaves it in the texture of its turn. Columns of L then still miss the row
// exchanges of the steps after; a fragment follows them back.
//
// A fragment computes rows 4t to 4t+3 of a group of 16, in column j: texel 4j + t, as the trailing update reads it
// (matmul/panels.frag); or, below these, the order of two rows (plu/blocked/order.glsl).
// P0, P1   what even and odd steps have drawn
// Cost per fragment: 4 fetches, and in L 1 for each later step.
// Fetches: 0 to 4 + (steps + 7) / 8 * 8.
// LAPACK getrf2 (laswp on the left columns).

#include "lib/pivots.glsl"
#include "plu/blocked/panel.glsl"

uniform sampler2D P0;
uniform sampler2D P1;
uniform int top;      // first row of the panel
uniform int steps;
uniform int groups;   // of 16 rows
uniform ivec2 shape;  // rows and columns of the panel's matrix

layout(location = 0) out vec4 result;

vec4 drawn(int step, ivec2 texel) {
    return (step & 1) == 0 ? texelFetch(P0, texel + ivec2(P0_AT, 0), 0) : texelFetch(P1, texel + ivec2(P1_AT, 0), 0);
}

// Where rows were before the exchanges of the steps after `step`.
ivec4 followed(ivec4 rows, int step) {
    for (int last = steps - 1; last > step; last -= 8) {  // as many fetches are under way at once
        ivec2 some[8];
        for (int i = 0; i < 8; ++i) {
            int later = max(last - i, step + 1);
            some[i] = ivec2(drawn(later, ivec2(RECORDS, (top >> 1) + later)).rg);
        }
        for (int i = 0; i < 8; ++i) {
            int r = top + 2 * (last - i);
            if (last - i <= step) break;
            rows.x = source_row(rows.x, r, some[i].x, r + 1, some[i].y);
            rows.y = source_row(rows.y, r, some[i].x, r + 1, some[i].y);
            rows.z = source_row(rows.z, r, some[i].x, r + 1, some[i].y);
            rows.w = source_row(rows.w, r, some[i].x, r + 1, some[i].y);
        }
    }
    return rows;
}

// Entries of column j in rows i and i + 1, i even, which then were rows `source`. Most are of one texel still.
vec2 entries(int i, ivec2 source, int j) {
    if (i >= shape.x || j >= shape.y) return vec2(0.0);
    int step = min((i - top) >> 1, j >> 1);
    vec4 one = drawn(step, ivec2(j >> 1, source.x >> 1));
    vec4 two = source.y >> 1 == source.x >> 1 ? one : drawn(step, ivec2(j >> 1, source.y >> 1));
    vec4 pairs = vec4(half_of(one, source.x), half_of(two, source.y));
    return (j & 1) == 0 ? pairs.xz : pairs.yw;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    if (texel.y >= groups) {
        int i = top + 2 * ((texel.y - groups) * ACROSS + texel.x);
        result = vec4(followed(ivec4(i, i + 1, i, i), -1).xy, 0.0, 0.0);
        return;
    }
    int i = top + 16 * texel.y + 4 * (texel.x & 3);
    int j = texel.x >> 2;
    ivec4 source = followed(ivec4(i, i + 1, i + 2, i + 3), j >> 1);
    result = vec4(entries(i, source.xy, j), entries(i + 2, source.zw, j));
}
