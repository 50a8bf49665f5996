// C = A B: every block of C is the inner product of a row of blocks of A and a column of blocks of B.
//
// A fragment computes one 2x2 block of C; with `count` below the inner size, a slice of its sum, which later passes
// go on from (CONTINUE).
// A   rows x inner, packed      B   inner x columns, packed      C   rows x columns, packed
// With TRANSPOSE_A (TRANSPOSE_B) the texture holds the transpose, and a block is turned as it is fetched.
// Cost per fragment: 2 fetches and 16 flop per trip, `count` trips.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.1, listing 4.1.

#ifndef CONTINUE
#define CONTINUE 0  // start from the block of C that an earlier pass computed (0, 1)
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0  // A holds the transpose, inner x rows (0, 1)
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0  // B holds the transpose, columns x inner (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/block_product.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform int first;    // first texel of the inner dimension
uniform int count;    // texels of the inner dimension
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if CONTINUE
    vec4 sum = texelFetch(C, texel, 0);
#else
    vec4 sum = vec4(0.0);
#endif
    for (int k = first; k < first + count; ++k) {
#if TRANSPOSE_A
        vec4 a = texelFetch(A, ivec2(texel.y, k), 0).rbga;
#else
        vec4 a = texelFetch(A, ivec2(k, texel.y), 0);
#endif
#if TRANSPOSE_B
        vec4 b = texelFetch(B, ivec2(k, texel.x), 0).rbga;
#else
        vec4 b = texelFetch(B, ivec2(texel.x, k), 0);
#endif
        sum = add_block_product(sum, a, b);
    }
    result = without_padding(sum, texel, shape);
}
