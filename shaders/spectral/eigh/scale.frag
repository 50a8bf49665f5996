// A 2^-e, e by spectral/eigh/exponent.glsl: the largest entry comes into [1, 2), and nothing is rounded but what is below
// 2^-126 of it.
//
// A fragment computes one 2x2 block.
// A   packed      largest   max |a_ij|, in one texel
// Cost per fragment: 2 fetches.
// Fetches: 2.

#include "spectral/eigh/exponent.glsl"

uniform sampler2D A;

layout(location = 0) out vec4 result;

void main() {
    vec4 block = texelFetch(A, ivec2(gl_FragCoord.xy), 0);
    int e = exponent_of_matrix();
    result = vec4(scaled(block.r, -e), scaled(block.g, -e), scaled(block.b, -e), scaled(block.a, -e));
}
