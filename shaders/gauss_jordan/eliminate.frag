// Multiples of row k are subtracted from all other rows of [A | X]: the third of the three passes of column k.
//
//     M[i, j] <- M[i, j] - M[i, k] M[k, j]      i /= k
//
// A fragment computes one 2x2 block. In the source the multipliers M[i, k] are read while the block of threads that owns
// column k writes zeros over them; here a pass reads what the pass before has left.
// M   [A | X], packed, row k divided by its pivot
// Cost per fragment: 3 fetches, 8 flop.
// Fetches: 3.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.1.

#include "lib/packed.glsl"

uniform sampler2D M;
uniform int k;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 own = texelFetch(M, texel, 0);
    vec4 column = texelFetch(M, ivec2(k >> 1, texel.y), 0);
    vec2 l = (k & 1) == 0 ? column.rb : column.ga;
    vec2 row = row_pair(M, k, texel.x);
    result = own;
    if (2 * texel.y != k) result.rg -= l.x * row;
    if (2 * texel.y + 1 != k) result.ba -= l.y * row;
}
