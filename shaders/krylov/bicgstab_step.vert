// How far a step goes, computed once for each corner.

#include "lib/fullscreen.glsl"
#include "krylov/bicgstab.glsl"

flat out vec4 k;

void main() {
    k = behind();
    gl_Position = triangle_corner();
}
