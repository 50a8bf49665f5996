// (A_a, A_b, A_g, A_r), and the product of the 2x2 blocks A and B
//
// The order of the channels from host to texel and back, and the swizzles that every product here is made of.
//
// A fragment computes one texel of each of two targets.
// A, B   of one size, a 2x2 block of integers per texel
// Cost per fragment: 2 fetches and 12 flop.

#include "lib/block_product.glsl"

uniform sampler2D A;
uniform sampler2D B;

layout(location = 0) out vec4 reversed;
layout(location = 1) out vec4 product;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 a = texelFetch(A, texel, 0);
    vec4 b = texelFetch(B, texel, 0);
    reversed = a.abgr;
    product = add_block_product(vec4(0.0), a, b);
}
