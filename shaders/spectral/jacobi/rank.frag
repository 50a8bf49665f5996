// How many of n numbers come before each, equal ones by their places: eigenvalues ascending, or `sizes` descending.
//
// A      packed, diagonal
// ranks  a line of texels (value, rank, 0, 0)
// Cost per fragment: n + 1 fetches.

#include "lib/packed.glsl"

#ifndef SIZES
#define SIZES 0  // the diagonal of A (0), or a line of texels (size, ...)
#endif

uniform sampler2D A;
uniform int n;

layout(location = 0) out vec4 ranks;

float value(int i) {
    if (SIZES == 1) return -texelFetch(A, at(ivec2(i, 0)), 0).r;
    vec4 b = texelFetch(A, at(ivec2(i >> 1)), 0);
    return (i & 1) == 0 ? b.r : b.a;
}

void main() {
    int own = own_texel().x;
    float l = value(own);
    ranks = vec4(l, 0.0, 0.0, 0.0);
    for (int i = 0; i < n; ++i) {
        float other = value(i);
        if (other < l || (other == l && i < own)) ranks.g += 1.0;
    }
}
