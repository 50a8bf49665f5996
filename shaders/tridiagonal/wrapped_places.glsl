// Texels and neighbours of the wrapped layout, see lib/wrapped_element.glsl, without divisions of integers.

#include "lib/places.glsl"

// Texel t; of those outside any one.
vec4 texel(sampler2D M, int t) {
    ivec2 size = textureSize(M, 0);
    int y = whole_part(t, size.x);
    return texelFetch(M, ivec2(t - y * size.x, clamp(y, 0, size.y - 1)), 0);
}

// Four neighbours from element k on, 0 to 4, of two texels.
vec4 from_element(vec4 first, vec4 second, int k) {
    if (k == 0) return first;
    if (k == 1) return vec4(first.yzw, second.x);
    if (k == 2) return vec4(first.zw, second.xy);
    if (k == 3) return vec4(first.w, second.xyz);
    return second;
}
