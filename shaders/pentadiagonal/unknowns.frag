// x[i] = half i % 2 of pair i / 2: pairs become single unknowns.
//
// A fragment computes one unknown.
// X   pairs of each system      x   unknowns
// Cost per fragment: 1 fetch.
// Hockney 1965, for what came before.

#include "lib/tridiagonal.glsl"

uniform sampler2D X;

layout(location = 0) out float x;

void main() {
    int i = own_row();
    vec2 pair = texelFetch(X, place_of(i >> 1), 0).rg;
    x = (i & 1) == 0 ? pair.x : pair.y;
}
