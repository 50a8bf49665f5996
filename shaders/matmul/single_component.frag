// C = A B, one element to a texel: the layout that every packing is compared with.
//
// A fragment computes one element of C, a slice of its sum at a time (CONTINUE).
// A   rows x inner      B   inner x columns      C   rows x columns      all with one element per texel
// With TRANSPOSE_A (TRANSPOSE_B) the texture holds the transpose.
// Cost per fragment: 2 fetches and 2 flop per trip, `count` trips; 1 fetch more with CONTINUE.
// Fetches: 2 * count + CONTINUE.
// Moravanszky, "Dense matrix algebra on the GPU" (2003), which packs four elements to do better.

#ifndef CONTINUE
#define CONTINUE 0  // start from the element of C that an earlier pass computed (0, 1)
#endif

#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0  // A holds the transpose, inner x rows (0, 1)
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0  // B holds the transpose, columns x inner (0, 1)
#endif

#include "matmul/unroll.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform int first;  // first inner index
uniform int count;  // inner indices

layout(location = 0) out float element;

#if TRANSPOSE_A
#define A_ELEMENT(k) texelFetch(A, ivec2(texel.y, k), 0).r
#else
#define A_ELEMENT(k) texelFetch(A, ivec2(k, texel.y), 0).r
#endif
#if TRANSPOSE_B
#define B_ELEMENT(k) texelFetch(B, ivec2(k, texel.x), 0).r
#else
#define B_ELEMENT(k) texelFetch(B, ivec2(texel.x, k), 0).r
#endif

#define STEP(u) sum += A_ELEMENT(k + u) * B_ELEMENT(k + u);

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if CONTINUE
    float sum = texelFetch(C, texel, 0).r;
#else
    float sum = 0.0;
#endif
    int k = first;
    int end = first + count;
#if UNROLL > 1
    for (; k + UNROLL <= end; k += UNROLL) { UNROLLED(STEP) }
#endif
    for (; k < end; ++k) STEP(0)
    element = sum;
}
