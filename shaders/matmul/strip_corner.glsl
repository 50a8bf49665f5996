// The strip of C that a pass draws begins where the step of the pass says: a vertex stage.

#ifndef STRIP
#define STRIP 8  // height of a strip (8, 16)
#endif
#include "lib/fullscreen.glsl"

flat out ivec2 corner;  // first texel of the strip

void main() {
    gl_Position = triangle_corner();
    corner = ivec2(0, STRIP * step_of_pass());
}
