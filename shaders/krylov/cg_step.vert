// How far a step of conjugate gradients goes, computed once for each corner.

#include "lib/fullscreen.glsl"
#include "krylov/cg.glsl"

uniform sampler2D K;

flat out float alpha;

void main() {
    alpha = length_of_step(texelFetch(K, ivec2(0), 0).b).r;
    gl_Position = triangle_corner();
}
