// C += A[:, slice] B[slice, :]: one layer of the virtual cube of processors.
//
// The cube has a processor for every (row, column, inner) triple. A pass is one layer of it, two inner indices thick;
// the layers are summed as they are drawn, by float blending or (PING_PONG) by reading the sum of the layers before.
// A fragment computes one 2x2 block.
// A   rows x inner, packed      B   inner x columns, packed      C   rows x columns, packed
// Cost per fragment: 2 fetches (3 with PING_PONG) and 16 flop.
// Fetches: 2 + PING_PONG.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.1, listing 4.2, after Larsen and McAllister (2001), see
// matmul/rank_one.frag.

#ifndef PING_PONG
#define PING_PONG 0  // read the sum so far instead of blending onto it (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/block_product.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if PING_PONG
uniform sampler2D C;
#endif
uniform int slice;    // texel of the inner dimension
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if PING_PONG
    vec4 sum = texelFetch(C, texel, 0);
#else
    vec4 sum = vec4(0.0);
#endif
    vec4 a = texelFetch(A, ivec2(slice, texel.y), 0);
    vec4 b = texelFetch(B, ivec2(texel.x, slice), 0);
    result = without_padding(add_block_product(sum, a, b), texel, shape);
}
