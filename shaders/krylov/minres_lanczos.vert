// The coefficients of the Lanczos recurrence, computed once for each corner.

#include "lib/fullscreen.glsl"
#include "krylov/minres.glsl"

flat out vec4 c;

void main() {
    c = entry();
    gl_Position = triangle_corner();
}
