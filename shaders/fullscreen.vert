// The vertex stage of every pass that has none of its own, see lib/fullscreen.glsl.

#include "lib/fullscreen.glsl"

void main() {
    gl_Position = triangle_corner();
}
