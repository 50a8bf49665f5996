// The reflector of a step of a panel, and in a tridiagonal form the first entry of its w: computed once for each corner.

#include "spectral/eigh/panel.glsl"
#include "lib/packed.glsl"
#include "spectral/eigh/reflection.glsl"

uniform sampler2D E;
uniform sampler2D S;

flat out float lead;  // w in row k + 1

vec4 sums_at(int texel) {
    return texelFetch(E, at(ivec2(texel, 0)), 0);
}

vec3 sums_of_column() {  // x . A x, and in row k + 1 A x and the first column of A, A as it is by now
    int end = j + groups;
    vec3 sums = vec3(0.0, entry_of(sums_at(end + 2).rg, top), entry_of(across(S, top, first), top));
    for (int i = 0; i < end; i += AT_ONCE) {
        vec4 found[AT_ONCE + 1];
        for (int t = 0; t <= AT_ONCE; ++t) found[t] = sums_at(i + t < j + 1 ? i + t : min(i + t + 1, end + 1));
        for (int t = 0; t < AT_ONCE; ++t) {
            vec4 c = found[t], next = found[t + 1];
            if (i + t < j) sums -= vec3(2.0 * c.r * next.g, c.r * next.a + c.b * next.g, 2.0 * c.b * next.a);
            else if (i + t < end) sums.x += next.r;
        }
    }
    return sums;
}

void main() {
    begin_column();
    int row = j + side, above = max(row - 1, 0), left = max(k - 1, 0) >> 1;
    reflection = vec4(0.0);
    lead = 0.0;
    if (j >= 0) {
        vec2 own = side == 0 ? sums_at(row).rb : sums_at(row).ga;  // the squares, alpha
        vec3 sums = SIDES == 1 ? sums_of_column() : vec3(0.0);
        give_reflection(own.y, own.x, sums);
        lead = reflection.b * (sums.y - reflection.r * sums.z) - reflection.a;
    }
    gl_Position = corner_of(ivec4(left, above, height - left, row + 1 - above), ivec4(0));
}
