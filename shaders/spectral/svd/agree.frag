// Singular values, the largest first, and the signs with which the columns of u agree with those of v: u^T B v >= 0.
//
// Only where a value is near zero can they disagree: there both came from a mixture of its two vectors.
// L      a line of texels (eigenvalue, ...) of the matrix of order 2n, ascending
// H      packed: the bidiagonal matrix B on and right of its diagonal
// u, v   packed, of order n
// S      a line of texels (value, sign, 0, 0)
// Cost per fragment: 4 n + 2 fetches.

#include "lib/packed.glsl"

uniform sampler2D L;
uniform sampler2D H;
uniform sampler2D u;
uniform sampler2D v;
uniform int n;
uniform float near;  // part of the largest value that counts as near zero

layout(location = 0) out vec4 S;

float entry(sampler2D M, int i, int j) {
    return row_pair(M, i, j >> 1)[j & 1];
}

void main() {
    int t = int(gl_FragCoord.x);
    float value = max(texelFetch(L, ivec2(2 * n - 1 - t, 0), 0).r, 0.0);
    float largest = texelFetch(L, ivec2(2 * n - 1, 0), 0).r;
    float product = 0.0;  // u^T B v
    for (int i = 0; i < n; ++i) {
        float row = entry(H, i, i) * entry(v, i, t);
        if (i + 1 < n) row += entry(H, i, i + 1) * entry(v, i + 1, t);
        product += entry(u, i, t) * row;
    }
    S = vec4(value, value < near * largest && product < 0.0 ? -1.0 : 1.0, 0.0, 0.0);
}
