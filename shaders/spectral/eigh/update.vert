// The column of the step, and its reflector, unless a pass before has made v and w (VECTORS).

#ifndef VECTORS
#define VECTORS 0  // v and w come in a line of texels (0, 1)
#endif

#include "lib/fullscreen.glsl"
#if !VECTORS
#include "spectral/eigh/reflection.glsl"
#endif

flat out int k;

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
#if !VECTORS
    reflect_column(k);
#endif
}
