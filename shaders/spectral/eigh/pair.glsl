// v and w of the rank-2 change of a step, rows 2r and 2r + 1, by the reflector that comes from the vertex stage.

#include "spectral/eigh/column.glsl"

uniform sampler2D A;
uniform sampler2D D;

flat in int k;            // column of the step
flat in vec4 reflection;  // see spectral/eigh/reflection.glsl

vec2 v_of(int r) {
    vec2 v = below(across(A, k, r) * reflection.g, r, k + 1);
    if (2 * r == k + 1) v.x = 1.0;
    if (2 * r == k) v.y = 1.0;
    return v;
}

vec2 w_of(int r, vec2 v) {
    vec2 product = texelFetch(D, ivec2(r, 0), 0).rg - reflection.r * across(A, k + 1, r);
    return below(reflection.b * product - reflection.a * v, r, k);
}
