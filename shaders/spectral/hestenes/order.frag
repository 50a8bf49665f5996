// The numbers in that order, and where each comes from.
//
// sizes, ranks  lines of texels, see spectral/jacobi/rank.frag
// order         a line of texels (number, place, 0, 0)
// Cost per fragment: n + 1 fetches.

#include "lib/packed.glsl"

uniform sampler2D sizes;
uniform sampler2D ranks;
uniform int n;

layout(location = 0) out vec4 order;

void main() {
    int own = own_texel().x;
    int place = own;  // where NaN has no order
    for (int i = 0; i < n; ++i) {
        if (int(texelFetch(ranks, at(ivec2(i, 0)), 0).g) == own) place = i;
    }
    order = vec4(texelFetch(sizes, at(ivec2(place, 0)), 0).r, float(place), 0.0, 0.0);
}
