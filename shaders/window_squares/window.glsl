// Windows of w x w elements that slide over an image, for shaders/window_squares: elements of the packed image A in pairs,
// and the limit of a sum.

#include "lib/packed.glsl"

#ifndef LIMITED
#define LIMITED 0  // limit the sums (0, 1)
#endif

uniform sampler2D A;

// The two elements of column j in the rows of this fragment, and those of row i in its columns.
vec2 in_own_rows(int j) {
    vec4 texel = texelFetch(A, ivec2(j >> 1, int(gl_FragCoord.y)), 0);
    return (j & 1) == 0 ? texel.rb : texel.ga;
}

vec2 in_own_columns(int i) {
    return half_of(texelFetch(A, ivec2(int(gl_FragCoord.x), i >> 1), 0), i);
}

#if LIMITED
#include "lib/ieee.glsl"

uniform float limit;

// A sum within [0, limit]; NaN stays NaN.
float limited(float sum) {
    return is_nan(sum) ? sum : clamp(sum, 0.0, limit);
}

vec4 limited(vec4 sum) {
    return vec4(limited(sum.r), limited(sum.g), limited(sum.b), limited(sum.a));
}
#else
vec4 limited(vec4 sum) {
    return sum;
}
#endif
