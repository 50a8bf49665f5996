// The strip of C that a pass draws: that of 16 rows, the step of the pass.

#include "lib/fullscreen.glsl"

flat out ivec2 corner;  // first texel of the strip

void main() {
    gl_Position = triangle_corner();
    corner = ivec2(0, 8 * step_of_pass());
}
