// sums' = the sum of BLOCK x BLOCK texels: a step from many partial sums to few.
//
// sums  partial sums, a channel for each inner product        total  likewise
// Cost per fragment: BLOCK^2 fetches, 4 BLOCK^2 flop.
// Fetches: 1 to BLOCK * BLOCK.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction).

#ifndef BLOCK
#define BLOCK 16  // texels of a side
#endif

#ifndef OWN
#define OWN ivec2(gl_FragCoord.xy)  // texel of the sums that is drawn
#endif

#include "krylov/krylov.glsl"

uniform sampler2D sums;

layout(location = 0) out vec4 total;

void main() {
    ivec2 first = BLOCK * (OWN);
    total = folded(sums, first, min(ivec2(BLOCK), textureSize(sums, 0) - first));
}
