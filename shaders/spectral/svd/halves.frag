// The vectors u and v of the n largest eigenvalues of the matrix of order 2n, the largest first.
//
// X         packed, 2n x n: the vectors, values ascending
// u_, v_    packed, of order n
// Cost per fragment: 8 fetches.

#include "lib/packed.glsl"

uniform sampler2D X;
uniform int n;

layout(location = 0) out vec4 u_;
layout(location = 1) out vec4 v_;

const float ROOT_2 = 1.41421356;

float entry(int i, int t) {
    int j = max(n - 1 - t, 0);
    return ROOT_2 * row_pair(X, min(i, 2 * n - 1), j >> 1)[j & 1];
}

#define OF_U(i, j) entry(2 * (i) + 1, j)
#define OF_V(i, j) entry(2 * (i), j)

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    u_ = without_padding(BLOCK_OF(OF_U, own), own, ivec2(n));
    v_ = without_padding(BLOCK_OF(OF_V, own), own, ivec2(n));
}
