// The step of the pass, which is the column that is reduced.

#include "lib/fullscreen.glsl"

flat out int k;

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
}
