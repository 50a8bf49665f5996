// A factored panel, put together from the two textures in which its steps took turns.
//
// A step draws only what it changes: its pivot rows and its column of L are left where it put them, in the texture of
// its turn. Columns of L then still miss the row exchanges of the steps after; a fragment follows them back.
//
// A fragment computes one 2x2 block of the panel, or copies a record (see plu/blocked/panel_step.frag).
// P0, P1   what even and odd steps have drawn
// Cost per fragment: 2 fetches, and in L 1 for each later step.
// LAPACK getrf2 (laswp on the left columns).

#ifndef P0_AT
#define P0_AT 0  // columns where they begin in one texture, see lib/sheet.glsl
#endif
#ifndef P1_AT
#define P1_AT 0
#endif

#include "lib/pivots.glsl"

uniform sampler2D P0;
uniform sampler2D P1;
uniform int top;      // first row of the panel
uniform int steps;
uniform ivec2 shape;  // rows and columns of the panel's matrix

layout(location = 0) out vec4 result;

vec4 drawn(int step, ivec2 texel) {
    // GLSL 3.30 has no array of samplers with a computed index.
    return (step & 1) == 0 ? texelFetch(P0, texel + ivec2(P0_AT, 0), 0) : texelFetch(P1, texel + ivec2(P1_AT, 0), 0);
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int width = (shape.y + 1) >> 1;
    int records = ((width + 1) & ~1) + 1;  // their column
    int row = texel.y - (top >> 1);
    if (texel.x >= width || row <= texel.x) {
        bool gap = texel.x >= width && texel.x != records;
        result = gap || row >= steps ? vec4(0.0) : drawn(row, texel);
        return;
    }
    ivec2 source = 2 * texel.y + ivec2(0, 1);
    for (int last = steps - 1; last > texel.x; last -= 8) {  // as many fetches are under way at once
        ivec2 some[8];
        for (int i = 0; i < 8; ++i) {
            int step = max(last - i, texel.x + 1);
            some[i] = ivec2(drawn(step, ivec2(records, (top >> 1) + step)).rg);
        }
        for (int i = 0; i < 8; ++i) {
            int r = top + 2 * (last - i);
            if (last - i <= texel.x) break;
            source.x = source_row(source.x, r, some[i].x, r + 1, some[i].y);
            source.y = source_row(source.y, r, some[i].x, r + 1, some[i].y);
        }
    }
    vec2 upper = half_of(drawn(texel.x, ivec2(texel.x, source.x >> 1)), source.x);
    vec2 lower = half_of(drawn(texel.x, ivec2(texel.x, source.y >> 1)), source.y);
    result = without_padding(vec4(upper, lower), texel, shape);
}
