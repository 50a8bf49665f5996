// Where the solved block begins: at the row of texels that is the step of the pass.

#include "lib/fullscreen.glsl"

flat out ivec2 corner;  // first texel of the block in X

void main() {
    gl_Position = triangle_corner();
    corner = ivec2(0, step_of_pass());
}
