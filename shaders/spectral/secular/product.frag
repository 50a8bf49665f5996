// Q X within each block: rows of a part meet the columns of that part only, so that half of the product is left out.
//
// A fragment computes one 2x2 block; outside of the blocks of the diagonal it is zero. Columns are those from `first` on,
// which is 0 but for the last level.
// Q   vectors of the parts, packed, block-diagonal      X   those of the rank-1 change (secular/vectors.frag)
// Cost per fragment: 2 fetches and 16 flop per trip, s / 2 trips.

#include "spectral/secular/block.glsl"

uniform sampler2D Q;
uniform sampler2D X;
uniform int first;

layout(location = 0) out vec4 C;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    C = vec4(0.0);
    Block b = block_of(2 * own.x + first);
    if (block_of(2 * own.y).start != b.start) return;
    int from = b.start / 2, end = (b.end + 1) / 2;
    if (s > 1 && 2 * own.y < b.mid) end = (b.mid + 1) / 2;
    if (s > 1 && 2 * own.y >= b.mid) from = b.mid / 2;
    for (int k = from; k < end; ++k) {
        vec4 left = texelFetch(Q, ivec2(k, own.y), 0), right = texelFetch(X, ivec2(own.x, k), 0);
        C += left.rrbb * right.rgrg;
        C += left.ggaa * right.baba;
    }
}
