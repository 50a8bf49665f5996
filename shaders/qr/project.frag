// W = V^T Q for a pair of reflectors: what their application takes from each column, before T.
//
// A fragment sums one slice of a 2x2 block of W: both reflectors, columns 2x and 2x + 1.
// H   the reflectors, packed, below the diagonal      Q   what they are applied to
// Cost per fragment: 2 fetches and 16 flop per trip, ceil(m/2) trips in all slices.
// LAPACK larfb.

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
    for (int y = start; y < end; ++y) {
        vec4 v = texelFetch(H, at(ivec2(k, y)), 0);
        if (y == k) v = vec4(1.0, 0.0, v.b, 1.0);
        vec4 block = texelFetch(Q, at(ivec2(texel.x, y)), 0);
        vec4 term = v.rrgg * block.rgrg;
        term += v.bbaa * block.baba;
        add(sum, term, y - start);
    }
    result = total(sum);
}
