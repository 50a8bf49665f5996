// What a step of a panel needs of its column x, as it is by now: S x, and the products of x with v and w of the columns
// before.
//
//     texel i           (w_i . x, v_i . x, v_i, w_i in row k + 1) of column i; of x itself the squares below row k + 1
//     texel j + 1 + q   two rows of each half of S x
//
// A fragment sums one slice.
// P, S   see spectral/eigh/panel.glsl; S   n x n, packed, symmetric
// Cost per fragment: 3 fetches and 16 flop per trip, ceil(n/2) trips in all slices.
// LAPACK latrd.

#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "lib/packed.glsl"
#include "spectral/eigh/column.glsl"

uniform sampler2D P;
uniform sampler2D S;
uniform int height;

flat in int k;
flat in int j;
flat in int first;
flat in int part;
flat in int chunk;

layout(location = 0) out vec4 sums;

void main() {
    ivec2 own = own_texel();
    int begin = first + own.y * chunk, end = min(begin + chunk, height);
    int one = first + own.x - j - 1, other = min(one + part, height - 1);
    bool row = own.x > j;
    sums = vec4(0.0);
    for (int c = begin; c < end; c += AT_ONCE) {
        vec4 x[AT_ONCE];
        vec4 a[AT_ONCE];
        vec4 b[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) {
            int along = min(c + t, end - 1);
            x[t] = texelFetch(P, at(ivec2(along, j)), 0);
            if (row) a[t] = texelFetch(S, ivec2(one, along), 0);
            else a[t] = texelFetch(P, at(ivec2(along, own.x)), 0);
            if (row) b[t] = texelFetch(S, ivec2(other, along), 0);
        }
        for (int t = 0; t < AT_ONCE; ++t) {
            if (c + t >= end) break;
            vec2 entries = below(x[t].rg, c + t, own.x == j ? k + 1 : k);
            if (row) {
                sums += vec4(a[t].rg, b[t].rg) * entries.x;
                sums += vec4(a[t].ba, b[t].ba) * entries.y;
            } else {
                sums.rg += vec2(dot(own.x == j ? entries : a[t].ba, entries), dot(a[t].rg, entries));
            }
        }
    }
    if (own.x < j && own.y == 0) {
        vec4 pair = texelFetch(P, at(ivec2(first, own.x)), 0);
        sums.ba = (k & 1) == 1 ? pair.rb : pair.ga;
    }
}
