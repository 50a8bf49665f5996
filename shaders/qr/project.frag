// W = V^T Q for a pair of reflectors: what their application takes from each column, before T.
//
// A fragment sums one slice of a 2x2 block of W: both reflectors, columns 2x and 2x + 1.
// H   the reflectors, packed, below the diagonal      Q   what they are applied to
// Cost per fragment: 2 fetches and 16 flop per trip, ceil(m/2) trips in all slices.
// LAPACK larfb.

#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "qr/cascade.glsl"
#include "lib/packed.glsl"

uniform sampler2D H;
uniform sampler2D Q;
uniform int k;       // texel column of the pair
uniform int height;  // of H and Q, in texels
uniform int chunk;   // texels of a slice

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    int start = k + texel.y * chunk;
    int end = min(start + chunk, height);
    Cascade sum = empty();
    for (int top = start; top < end; top += AT_ONCE) {
        vec4 v[AT_ONCE];
        vec4 block[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) {
            v[i] = texelFetch(H, at(ivec2(k, min(top + i, end - 1))), 0);
            block[i] = texelFetch(Q, at(ivec2(texel.x, min(top + i, end - 1))), 0);
        }
        for (int i = 0; i < AT_ONCE; ++i) {
            if (top + i >= end) break;
            if (top + i == k) v[i] = vec4(1.0, 0.0, v[i].b, 1.0);
            vec4 term = v[i].rrgg * block[i].rgrg;
            term += v[i].bbaa * block[i].baba;
            add(sum, term, top + i - start);
        }
    }
    result = total(sum);
}
