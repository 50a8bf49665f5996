// T out of the tridiagonal form: texel i = (d_i, e_i, 0, 0), d on the diagonal, e below it.
//
// A fragment computes one texel.
// H   n x n, packed
// Cost per fragment: 2 fetches.
// Fetches: 2.

#include "spectral/eigh/column.glsl"

uniform sampler2D H;
uniform int n;

layout(location = 0) out vec4 result;

void main() {
    int i = int(gl_FragCoord.x), next = i + 1;
    vec2 own = column(H, i, i >> 1), below_it = column(H, i, min(next, n - 1) >> 1);
    float e = entry_of(below_it, next);
    result = vec4(entry_of(own, i), next < n ? e : 0.0, 0.0, 0.0);
}
