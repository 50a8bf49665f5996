// The vertex stage of every pass that needs nothing but fragments, see lib/fullscreen.glsl.

#include "lib/fullscreen.glsl"

void main() {
    gl_Position = triangle_corner();
}
