// The eigenvalues, ascending, where each comes from, and a sign that makes the largest entry of its vector positive.
//
// A      packed, diagonal
// V      packed
// ranks  a line of texels, see `rank`
// L      a line of texels (value, place, sign, 0)
// Cost per fragment: 2 n + 1 fetches.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform sampler2D V;
uniform sampler2D ranks;
uniform int n;

layout(location = 0) out vec4 L;

void main() {
    int own = own_texel().x;
    int place = own;  // where NaN has no order
    for (int i = 0; i < n; ++i) {
        if (int(texelFetch(ranks, at(ivec2(i, 0)), 0).g) == own) place = i;
    }
    vec4 b = texelFetch(A, at(ivec2(place >> 1)), 0);
    float most = 0.0;  // the first of the largest entries
    for (int i = 0; i < n; ++i) {
        float entry = row_pair(V, i, place >> 1)[place & 1];
        if (abs(entry) > abs(most)) most = entry;
    }
    L = vec4((place & 1) == 0 ? b.r : b.a, float(place), most < 0.0 ? -1.0 : 1.0, 0.0);
}
