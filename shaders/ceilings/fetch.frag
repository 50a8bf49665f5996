// sum of T over 4 x 4 neighbours, over and over: how fast texels come from the cache
//
// A fragment computes the sum over `rounds` windows of 16 texels; that of round k starts at (x mod 32, y mod 32 + k & 28).
// T   64 x 64, CHANNELS per texel
// Cost per fragment: 16 fetches a round.

#ifndef CHANNELS
#define CHANNELS 4  // channels of a texel of T (1, 2, 4)
#endif

#include "lib/repeat.glsl"

#if CHANNELS == 4
#define VECTOR vec4
#define PART rgba
#elif CHANNELS == 2
#define VECTOR vec2
#define PART rg
#elif CHANNELS == 1
#define VECTOR float
#define PART r
#else
#error CHANNELS must be 1, 2 or 4
#endif

uniform sampler2D T;
uniform int rounds;

layout(location = 0) out vec4 result;

#define FETCH(i) sum += texelFetchOffset(T, corner, 0, ivec2((i) % 4, (i) / 4)).PART;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy) & 31;
    VECTOR sum = VECTOR(0.0);
    for (int round = 0; round < rounds; ++round) {
        ivec2 corner = texel + ivec2(0, round & 28);
        REPEAT_16(FETCH, 0)
    }
#if CHANNELS == 4
    result = sum;
#elif CHANNELS == 2
    result = vec4(sum, 0.0, 0.0);
#else
    result = vec4(sum, 0.0, 0.0, 0.0);
#endif
}
