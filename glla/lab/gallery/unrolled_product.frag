// C = A B with the loop unrolled, and a whole texel in one vector operation: two multiply-adds of vec4 a trip.
//
// A fragment computes one texel of C. UNROLL trips stand in one, so that there are fewer tests and jumps, and more
// fetches under way at a time; what is left at the end goes one by one.
// A   rows x inner, packed      B   inner x columns, packed
// Cost per fragment: 2 fetches and 16 flop per trip, `count` trips.
//
// Try it:  glla shader show unrolled_product > my.frag && glla compare matmul --shader my.frag --param UNROLL=1,2,4,8

#ifndef UNROLL
#define UNROLL 4  // trips of the loop in one (1, 2, 4, 8)
#endif

#include "lib/packed.glsl"         // without_padding
#include "lib/block_product.glsl"  // add_block_product: a 2x2 product with swizzles
#include "matmul/unroll.glsl"         // UNROLLED(STEP): STEP(0) ... STEP(UNROLL - 1)

uniform sampler2D A;
uniform sampler2D B;
uniform int first;    // first texel of the inner dimension
uniform int count;    // texels of the inner dimension
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

#define STEP(u)                                                  \
    {                                                            \
        vec4 a = texelFetch(A, ivec2(k + u, texel.y), 0);        \
        vec4 b = texelFetch(B, ivec2(texel.x, k + u), 0);        \
        sum = add_block_product(sum, a, b);                      \
    }

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 sum = vec4(0.0);
    int k = first;
    int end = first + count;
    for (; k + UNROLL <= end; k += UNROLL) { UNROLLED(STEP) }
    for (; k < end; ++k) STEP(0)
    result = without_padding(sum, texel, shape);
}
