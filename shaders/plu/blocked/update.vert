// Where the 16 rows of a group (the step of the pass) stood before the panel's exchanges: the same for the whole draw.

#include "lib/fullscreen.glsl"

uniform sampler2D rows;
uniform int column;  // of `rows`: the number of the panel

flat out ivec2 corner;  // first texel of the strip that is drawn: rows 2 corner.y to 2 corner.y + 15
flat out ivec4 source0;
flat out ivec4 source4;
flat out ivec4 source8;
flat out ivec4 source12;

ivec4 sources(int i) {
    return ivec4(texelFetch(rows, ivec2(column, i >> 1), 0).rg, texelFetch(rows, ivec2(column, (i >> 1) + 1), 0).rg);
}

void main() {
    gl_Position = triangle_corner();
    corner = ivec2(0, 8 * step_of_pass());
    source0 = sources(2 * corner.y);
    source4 = sources(2 * corner.y + 4);
    source8 = sources(2 * corner.y + 8);
    source12 = sources(2 * corner.y + 12);
}
