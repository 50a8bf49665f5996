// C = A B: every block of C is the inner product of a row of blocks of A and a column of blocks of B.
//
// A fragment computes one 2x2 block of C; with `count` below the inner size, a slice of its sum, which later passes
// go on from (CONTINUE). Slices that the texture cache holds make it the multi-pass product; slices of blocks of C, drawn
// one after the other, the blocked one.
// A   rows x inner, packed      B   inner x columns, packed      C   rows x columns, packed
// With TRANSPOSE_A (TRANSPOSE_B) the texture holds the transpose, and a block is turned as it is fetched.
// Cost per fragment: 2 fetches and 16 flop per trip, `count` trips; 1 fetch more with CONTINUE.
// Fetches: 2 * count + CONTINUE.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.1, listing 4.1.
// Multi-pass: Hall, Carr and Hart, "Cache and bandwidth aware matrix multiplication on the GPU" (2003); "NV Multi" of
// Fatahalian, Sugerman and Hanrahan, "Understanding the efficiency of GPU algorithms for matrix-matrix multiplication"
// (2004), whose "NV Single" is the product in one pass.
// Blocked: Govindaraju, Larsen, Gray and Manocha, "A memory model for scientific algorithms on graphics processors" (2006).

#ifndef CONTINUE
#define CONTINUE 0  // start from the block of C that an earlier pass computed (0, 1)
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0  // A holds the transpose, inner x rows (0, 1)
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0  // B holds the transpose, columns x inner (0, 1)
#endif

#ifndef LEVEL
#define LEVEL 0  // trips whose sum is added at once, see matmul/level.glsl; 0: all (0, 32)
#endif

#include "lib/packed.glsl"
#include "lib/block_product.glsl"
#include "matmul/level.glsl"
#include "matmul/unroll.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform int first;    // first texel of the inner dimension
uniform int count;    // texels of the inner dimension
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

#if TRANSPOSE_A
#define A_BLOCK(k) texelFetch(A, at(ivec2(texel.y, k)), 0).rbga
#else
#define A_BLOCK(k) texelFetch(A, at(ivec2(k, texel.y)), 0)
#endif
#if TRANSPOSE_B
#define B_BLOCK(k) texelFetch(B, at(ivec2(k, texel.x)), 0).rbga
#else
#define B_BLOCK(k) texelFetch(B, at(ivec2(texel.x, k)), 0)
#endif

#define STEP(u)                             \
    {                                       \
        vec4 a = A_BLOCK(k + u);            \
        vec4 b = B_BLOCK(k + u);            \
        sum = add_block_product(sum, a, b); \
    }

void main() {
    ivec2 texel = own_texel();
#if CONTINUE
    vec4 sum = texelFetch(C, at(texel), 0);
#else
    vec4 sum = vec4(0.0);
#endif
    vec4 levels = vec4(0.0);
    int k = first;
    int end = first + count;
#if UNROLL > 1
    for (; k + UNROLL <= end; k += UNROLL) {
        UNROLLED(STEP)
        next_level(sum, levels, k + UNROLL - first);
    }
#endif
    for (; k < end; ++k) {
        STEP(0)
        next_level(sum, levels, k + 1 - first);
    }
    if (LEVEL > 0) sum += levels;
    result = without_padding(sum, texel, shape);
}
