// A + 1: does a barrier order the passes of a chain in one texture, and do fragments meet?
//
// A fragment computes (a + 1, b + 1, 0, 0); the second only if a block of 2 x 2 fragments has found the best of its
// candidates: an infinity, each time another one's, and later the first of equals.
// A   (passes so far, meetings so far, 0, 0)      Cost per fragment: 1 fetch.
// Fetches: 1.

#ifndef MEET
#define MEET 0  // do they meet (0, 1)
#endif

#include "lib/packed.glsl"
#if MEET
#include "lib/meet.glsl"
#endif

uniform sampler2D A;

flat in int k;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    result = texelFetch(A, at(texel), 0) + vec4(1.0, 0.0, 0.0, 0.0);
#if MEET
    int place = 2 * (texel.y & 1) + (texel.x & 1);
    int winner = k < 32 ? k & 3 : 0;
    vec4 found = met(vec4(k < 32 && place == winner ? uintBitsToFloat(0x7f800000u) : 1.0, place, -1.0, place));
    if (found.y == float(winner) && found.z == -1.0 && found.w == 3.0) result.g += 1.0;
#endif
}
