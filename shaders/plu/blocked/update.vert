// Where the 16 rows of a group (the step of the pass) stood before the panel's exchanges: the same for the whole draw.

#include "lib/fullscreen.glsl"
#include "plu/blocked/order.glsl"

flat out ivec2 corner;  // first texel of the strip that is drawn: rows 2 corner.y to 2 corner.y + 15
flat out ivec4 source0;
flat out ivec4 source4;
flat out ivec4 source8;
flat out ivec4 source12;

void main() {
    gl_Position = triangle_corner();
    corner = ivec2(0, 8 * step_of_pass());
    source0 = sources(2 * corner.y);
    source4 = sources(2 * corner.y + 4);
    source8 = sources(2 * corner.y + 8);
    source12 = sources(2 * corner.y + 12);
}
