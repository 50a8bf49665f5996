// V x and V (Lambda x) for four vectors x of +-1: the first half of the certificate of A V = V Lambda.
//
// A fragment computes row i of both, a channel for each vector.
// V   n x count, packed: vectors from number `first` on      L   texel j = (lambda_j, ...)
// Cost per fragment: 3 fetches and 32 flop per trip, ceil(count/2) trips.
// Girard 1989, Hutchinson 1990: norms by random vectors.

#include "lib/packed.glsl"
#include "spectral/eigh/random.glsl"

uniform sampler2D V;
uniform sampler2D L;
uniform int first;
uniform int count;

layout(location = 0) out vec4 product;
layout(location = 1) out vec4 weighted;

void main() {
    int i = own_texel().x;
    product = weighted = vec4(0.0);
    for (int j = 0; j < count; j += 2) {
        vec2 row = row_pair(V, i, j >> 1);
        if (j + 1 == count) row.y = 0.0;  // V may have more columns
        vec4 one = row.x * random_signs(j), other = row.y * random_signs(j + 1);
        product += one;
        product += other;
        weighted += texelFetch(L, at(ivec2(first + j, 0)), 0).r * one;
        weighted += texelFetch(L, at(ivec2(first + min(j + 1, count - 1), 0)), 0).r * other;
    }
}
