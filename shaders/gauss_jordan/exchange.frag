// Rows k and p of [A | X] change places: the first of the three passes of column k.
//
// A fragment computes one 2x2 block, and takes each of its rows from where it was. Every pass of the three draws the whole
// of both halves, finished columns too, as the source does.
// M   [A | X], packed
// Fetches: 2.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.1.

#include "lib/packed.glsl"

uniform sampler2D M;
flat in ivec2 exchanged;

layout(location = 0) out vec4 result;

int source(int i) {
    return i == exchanged.x ? exchanged.y : i == exchanged.y ? exchanged.x : i;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = vec4(row_pair(M, source(2 * texel.y), texel.x), 0.0, 0.0);
    int low = source(2 * texel.y + 1);
    result.ba = row_pair(M, low, texel.x);
}
