// N = -(strict upper half of V^T V + half its diagonal), so that H_1 H_2 ... H_p = I + V N^-1 V^T.
//
// A fragment computes one 2x2 block. Where a reflector is zero, its diagonal element is -1: it changes nothing.
// S = V^T V, p x p, packed
// Cost per fragment: 1 fetch.
// Joffrain, Low, Quintana-Orti, van de Geijn and Van Zee, "Accumulating Householder transformations, revisited" (2006):
// the UT transform. Half the diagonal is 1 / tau, whatever rounding has done to v.

#include "lib/packed.glsl"

uniform sampler2D S;
uniform ivec2 shape;  // p, p

layout(location = 0) out vec4 result;

float diagonal(float square) {
    return square == 0.0 ? -1.0 : -0.5 * square;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 s = texelFetch(S, texel, 0);
    result = texel.y < texel.x ? -s : vec4(0.0);
    if (texel.y == texel.x) result = vec4(diagonal(s.r), -s.g, 0.0, diagonal(s.a));
    result = without_padding(result, texel, shape);
}
