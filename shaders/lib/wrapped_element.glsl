// Single elements of the wrapped layout: element i is channel i % 4 of texel i / 4, texel t is at (t % width, t / width).

#include "lib/places.glsl"

ivec2 place_of(int t, int width) {
    int y = t / width;
    return ivec2(t - y * width, y);
}

// The same as `place_of`, of a width that is not known before: rows are few enough for floats.
ivec2 place_within(int t, int width) {
    int y = whole_part(t, width);
    return ivec2(t - y * width, y);
}

vec4 texel_of(sampler2D A, int t) {
    return texelFetch(A, place_within(t, textureSize(A, 0).x), 0);
}

ivec4 texel_of(isampler2D A, int t) {
    return texelFetch(A, place_within(t, textureSize(A, 0).x), 0);
}

float element_of(sampler2D A, int i) {
    return channel(texel_of(A, i >> 2), i);
}

int element_of(isampler2D A, int i) {
    return channel(texel_of(A, i >> 2), i);
}
