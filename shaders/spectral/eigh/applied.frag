// V x and V (Lambda x) for four vectors x of +-1: the first half of the certificate of A V = V Lambda.
//
// A fragment computes row i of both, a channel for each vector.
// V   n x n, packed      L   texel j = (lambda_j, ...)
// Cost per fragment: 3 fetches and 32 flop per trip, ceil(n/2) trips.
// Girard 1989, Hutchinson 1990: norms by random vectors.

#include "spectral/eigh/random.glsl"

uniform sampler2D V;
uniform sampler2D L;
uniform int n;

layout(location = 0) out vec4 product;
layout(location = 1) out vec4 weighted;

void main() {
    int i = int(gl_FragCoord.x);
    product = weighted = vec4(0.0);
    for (int j = 0; j < n; j += 2) {
        vec4 block = texelFetch(V, ivec2(j >> 1, i >> 1), 0);
        vec2 row = (i & 1) == 0 ? block.rg : block.ba;
        vec4 first = row.x * random_signs(j), second = row.y * random_signs(j + 1);
        product += first;
        product += second;
        weighted += texelFetch(L, ivec2(j, 0), 0).r * first;
        weighted += texelFetch(L, ivec2(min(j + 1, n - 1), 0), 0).r * second;
    }
}
