// The reflector of column k.

#include "lib/fullscreen.glsl"
#include "spectral/eigh/reflection.glsl"

flat out int k;  // column of the step

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    reflect_column(k);
}
