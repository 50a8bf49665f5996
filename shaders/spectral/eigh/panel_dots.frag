// What a step of a panel needs of its column x, as it is by now: S x, from the left S^T x, and the products of x with the
// vectors of the columns before.
//
//     texel i                  (a . x, b . x, a, b in row `top`): what vectors of row i of the other one of R and C are
//                              multiplied with. In the last one, for x itself: the squares below row `top`, and alpha
//     texel j + 1 + side + q   two rows of each half of S x
//
// A fragment sums one slice.
// P, S   see spectral/eigh/panel.glsl
// Cost per fragment: 3 fetches and 16 flop per trip, ceil(n/2) trips in all slices.
// LAPACK latrd, labrd.

#ifndef SIDES
#define SIDES 1  // as in spectral/eigh/panel.glsl
#endif
#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "lib/packed.glsl"
#include "spectral/eigh/column.glsl"

uniform sampler2D P;
uniform sampler2D S;
uniform int height;

flat in int j;
flat in int side;
flat in int top;
flat in int first;
flat in int part;
flat in int chunk;

layout(location = 0) out vec4 sums;

vec4 seen(int own, int along) {  // of S^T; a symmetric S is read where neighbours are beside each other
    bool turned = SIDES == 2 && side == 1;
    vec4 block = texelFetch(S, turned ? ivec2(along, own) : ivec2(own, along), 0);
    return turned ? block.rbga : block;
}

vec4 vectors(int row, int along) {  // of P, that of which the products are taken first in a tridiagonal form second
    vec4 pair = texelFetch(P, at(ivec2(along, clamp(row, 0, j))), 0);
    return SIDES == 1 ? pair.barg : pair;
}

void main() {
    ivec2 own = own_texel();
    int begin = first + own.y * chunk, end = min(begin + chunk, height);
    int i = own.x, one = first + i - j - 1 - side, other = min(one + part, height - 1);
    int upper = SIDES == 1 ? i + 1 : i, lower = i + 1 - 2 * side;  // rows of P
    bool row = i > j + side;
    sums = vec4(0.0);
    for (int c = begin; c < end; c += AT_ONCE) {
        vec4 x[AT_ONCE];
        vec4 a[AT_ONCE];
        vec4 b[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) {
            int along = min(c + t, end - 1);
            x[t] = texelFetch(P, at(ivec2(along, j)), 0);
            a[t] = row ? seen(one, along) : vectors(upper, along);
            b[t] = row ? seen(other, along) : vectors(lower, along);
        }
        for (int t = 0; t < AT_ONCE; ++t) {
            if (c + t >= end) break;
            vec2 entries = below(SIDES == 1 || side == 0 ? x[t].rg : x[t].ba, c + t, top - 1);
            vec2 rest = below(entries, c + t, top);
            if (row) {
                sums += vec4(a[t].rg, b[t].rg) * entries.x;
                sums += vec4(a[t].ba, b[t].ba) * entries.y;
            } else {
                sums.r += side == 0 && upper == j ? dot(rest, rest) : dot(a[t].rg, entries);
                sums.g += side == 1 && lower == j ? dot(rest, rest) : dot(b[t].ba, entries);
            }
        }
    }
    if (row) return;
    if (own.y == 0) sums.ba = vec2(entry_of(vectors(upper, first).rg, top), entry_of(vectors(lower, first).ba, top));
    if (upper > j) sums.rb = vec2(0.0);
    if (lower < 0 || lower > j) sums.ga = vec2(0.0);
}
