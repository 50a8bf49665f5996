// C = A B, one element to a texel: the layout that every packing is compared with.
//
// A fragment computes one element of C, a slice of its sum at a time (CONTINUE).
// A   rows x inner      B   inner x columns      C   rows x columns      all with one element per texel
// Cost per fragment: 2 fetches and 2 flop per trip, `count` trips; 1 fetch more with CONTINUE.
// Fetches: 2 * count + CONTINUE.
// Moravanszky, "Dense matrix algebra on the GPU" (2003), which packs four elements to do better.

#ifndef CONTINUE
#define CONTINUE 0  // start from the element of C that an earlier pass computed (0, 1)
#endif

#include "lib/unroll.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform int first;  // first inner index
uniform int count;  // inner indices

layout(location = 0) out float element;

#define STEP(u) sum += texelFetch(A, ivec2(k + u, texel.y), 0).r * texelFetch(B, ivec2(texel.x, k + u), 0).r;

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
