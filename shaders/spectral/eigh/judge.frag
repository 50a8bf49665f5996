// The certificate of A V = V Lambda: sums over all rows of (r . r, o . o, sum of a_ij^2), and max |lambda_i|.
//
// One fragment computes all, of a matrix of a stack. NaN stays NaN in the sums.
// R   a texel for each row, by spectral/eigh/residual.frag
// Cost per fragment: n fetches.
// Fetches: n.

#include "lib/packed.glsl"

uniform sampler2D R;
uniform int n;

layout(location = 0) out vec4 result;

void main() {
    result = vec4(0.0);
    for (int i = 0; i < n; ++i) {
        vec4 row = texelFetch(R, at(ivec2(i, 0)), 0);
        result = vec4(result.rgb + row.rgb, max(result.a, row.a));
    }
}
