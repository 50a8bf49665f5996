// The column of the step, and its reflector.

#include "lib/fullscreen.glsl"
#include "spectral/eigh/reflection.glsl"

uniform sampler2D A;
uniform sampler2D D;
uniform int height;  // of A, in texels

flat out int k;

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    vec2 sums = vec2(0.0);
    for (int r = k >> 1; r < height; r += AT_ONCE) {
        vec2 found[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) found[i] = texelFetch(D, ivec2(min(r + i, height - 1), 0), 0).ba;
        for (int i = 0; i < AT_ONCE; ++i) sums += r + i < height ? found[i] : vec2(0.0);
    }
    int top = (k + 1) >> 1;
    float y = entry_of(texelFetch(D, ivec2(top, 0), 0).rg, k + 1), a = entry_of(across(A, k + 1, top), k + 1);
    give_reflection(entry_of(across(A, k, top), k + 1), sums.y, vec3(sums.x, y, a));
}
