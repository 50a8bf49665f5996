// Row k of [A | X] is divided by its pivot, A[k, k]: the second of the three passes of column k.
//
// A fragment computes one 2x2 block. In the source every block of threads reads the pivot while another one divides it by
// itself; here a pass reads what the pass before has left.
// M   [A | X], packed
// Cost per fragment: 2 fetches, 2 divisions in row k.
// Fetches: 1 to 2.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.1.

#include "lib/packed.glsl"
#include "lib/divide.glsl"

uniform sampler2D M;
uniform int k;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texelFetch(M, texel, 0);
    if (texel.y != k >> 1) return;
    vec4 corner = texelFetch(M, ivec2(k >> 1), 0);
    if ((k & 1) == 0) {
        result.rg = vec2(multiplier(result.r, corner.r), multiplier(result.g, corner.r));
    } else {
        result.ba = vec2(multiplier(result.b, corner.a), multiplier(result.a, corner.a));
    }
}
