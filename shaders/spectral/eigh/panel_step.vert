// The reflector of column k of a panel, and the first entry of its w: computed once for each corner.
//
//     A x = S x - V (W^T x) - W (V^T x),   a = the first column of what remains, likewise
//
// LAPACK latrd.

#include "spectral/eigh/panel.glsl"
#include "lib/packed.glsl"
#include "spectral/eigh/reflection.glsl"

uniform sampler2D E;
uniform sampler2D P;
uniform sampler2D S;

flat out float lead;  // w in row k + 1

vec4 sums_at(int texel) {
    return texelFetch(E, at(ivec2(texel, 0)), 0);
}

void reflect_column() {
    int top = k + 1;
    vec2 y = sums_at(j + 1 + groups).rg, x = texelFetch(P, at_second(ivec2(first, j)), 0).rg;
    vec3 sums = vec3(0.0, entry_of(y, top), entry_of(across(S, top, first), top));
    float square = sums_at(j).r;
    for (int i = 0; i < j; i += AT_ONCE) {
        vec4 found[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) found[t] = sums_at(min(i + t, j - 1));
        for (int t = 0; t < AT_ONCE; ++t) {
            vec4 c = found[t];
            if (i + t < j) sums -= vec3(2.0 * c.r * c.g, dot(c.ba, c.rg), 2.0 * c.b * c.a);
        }
    }
    for (int g = 0; g < groups; g += AT_ONCE) {
        float found[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) found[t] = sums_at(j + 1 + min(g + t, groups - 1)).r;
        for (int t = 0; t < AT_ONCE; ++t) sums.x += g + t < groups ? found[t] : 0.0;
    }
    give_reflection(entry_of(x, top), square, sums);
    lead = reflection.b * (sums.y - reflection.r * sums.z) - reflection.a;
}

void main() {
    begin_column();
    int above = max(j - 1, 0), left = max(k - 1, 0) >> 1;
    reflection = vec4(0.0);
    lead = 0.0;
    if (j >= 0) reflect_column();
    gl_Position = corner_of(ivec4(left, above, height - left, j + 2 - above), ivec4(0));
}
