// Of each column the largest magnitude; or with NORMS its norm, divided by that on the way: no square leaves the range.
//
// A      packed
// sizes  a line of texels (size, 0, 0, 0)
// Cost per fragment: `rows` fetches, 2 `rows` with NORMS.

#ifndef NORMS
#define NORMS 0  // largest magnitudes (0), or norms (1)
#endif

#include "lib/packed.glsl"
#include "lib/root.glsl"

uniform sampler2D A;
uniform int rows;

layout(location = 0) out vec4 sizes;

void main() {
    int j = own_texel().x;
    float most = 0.0;
    for (int i = 0; i < rows; ++i) most = max(most, abs(row_pair(A, i, j >> 1)[j & 1]));
    sizes = vec4(most, 0.0, 0.0, 0.0);
#if NORMS
    float sum = 0.0;
    for (int i = 0; i < rows; ++i) {
        float part = multiplier(row_pair(A, i, j >> 1)[j & 1], most);
        sum += part * part;
    }
    sizes.r = most * root(sum);
#endif
}
