// Of each root the reciprocal of its vector's norm, and its rank among the values of its block: (1 / norm, rank, 0, 0).
//
// A fragment computes both.
// G   poles      R   roots (lambda, offset, origin, live)      Z   the z of the roots
// Cost per fragment: 3 fetches and 5 flop per trip, a trip for each pole of the block.

#include "spectral/secular/block.glsl"
#include "spectral/secular/gap.glsl"

uniform sampler2D G;
uniform sampler2D R;
uniform sampler2D Z;

layout(location = 0) out vec4 N;

void main() {
    int p = int(gl_FragCoord.x);
    Block b = block_of(p);
    vec4 own = line(R, p);
    float origin = line(G, int(own.b)).r, sum = 0.0;
    int rank = b.start;
    for (int j = b.start; j < b.end; ++j) {
        vec4 other = line(R, j);
        if (other.r < own.r || (other.r == own.r && j < p)) ++rank;
        if (own.a == 0.0 || other.a == 0.0) continue;
        float x = line(Z, j).r / gap(origin, own.g, line(G, j).r);
        sum += x * x;
    }
    N = vec4(own.a != 0.0 ? 1.0 / sqrt(sum) : 1.0, float(rank), 0.0, 0.0);
}
