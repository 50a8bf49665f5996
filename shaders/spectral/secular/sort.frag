// Values of each block in ascending order: (lambda, root it is, 0, 0).
//
// A fragment looks for the root whose rank is its own position.
// R   roots      N   ranks (secular/norms.frag)
// Cost per fragment: 1 fetch per trip, a trip for each pole of the block; 1 fetch more.

#include "spectral/secular/block.glsl"

uniform sampler2D R;
uniform sampler2D N;

layout(location = 0) out vec4 L;

void main() {
    int t = int(gl_FragCoord.x), p = t;
    Block b = block_of(t);
    for (int j = b.start; j < b.end; ++j) {
        if (int(line(N, j).g) == t) p = j;
    }
    L = vec4(line(R, p).r, float(p), 0.0, 0.0);
}
