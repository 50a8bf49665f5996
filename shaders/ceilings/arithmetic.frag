// sums of s <- (s m + c) r + d, over and over, for 32 independent s: what the arithmetic alone can do
//
// m, c, r = 1 / m and d = -c / m are fetched, so that the compiler cannot know that a step leads back to where it began:
// the s stay what they were but for rounding errors, neither grow nor vanish, and their bits keep changing.
//
// A fragment computes the four channels of s0 + ... + s7.
// coefficients   64 x 64, (m, c, r, d) in a texel, m and c of about 1
// Cost per fragment: 1 fetch, 256 CHANNELS flop a round.
// Brodtkorb 2007: swizzles, section 2.2.4; one channel or four, listings 3.1 and 3.2.

#ifndef CHANNELS
#define CHANNELS 4  // of each s that take part (1, 4)
#endif
#ifndef SWIZZLED
#define SWIZZLED 0  // red, green and blue change their places in each of the 16 steps of a round (0, 1)
#endif
#if CHANNELS != 4 && (CHANNELS != 1 || SWIZZLED)
#error CHANNELS must be 4, or 1 without SWIZZLED
#endif

#include "lib/repeat.glsl"

uniform sampler2D coefficients;
uniform int rounds;

layout(location = 0) out vec4 result;

#if CHANNELS == 1
#define TO(s) s.r
#else
#define TO(s) s
#endif
#if SWIZZLED
#define FROM(s) s.gbra
#else
#define FROM(s) TO(s)
#endif

#define STEP(i)                   \
    TO(s0) = FROM(s0) * m + c;    \
    TO(s1) = FROM(s1) * m + c;    \
    TO(s2) = FROM(s2) * m + c;    \
    TO(s3) = FROM(s3) * m + c;    \
    TO(s4) = FROM(s4) * m + c;    \
    TO(s5) = FROM(s5) * m + c;    \
    TO(s6) = FROM(s6) * m + c;    \
    TO(s7) = FROM(s7) * m + c;    \
    TO(s0) = FROM(s0) * r + d;    \
    TO(s1) = FROM(s1) * r + d;    \
    TO(s2) = FROM(s2) * r + d;    \
    TO(s3) = FROM(s3) * r + d;    \
    TO(s4) = FROM(s4) * r + d;    \
    TO(s5) = FROM(s5) * r + d;    \
    TO(s6) = FROM(s6) * r + d;    \
    TO(s7) = FROM(s7) * r + d;

void main() {
    vec4 given = texelFetch(coefficients, ivec2(gl_FragCoord.xy) & 63, 0);
    float m = given.r;
    float c = given.g;
    float r = given.b;
    float d = given.a;
    vec4 s0 = vec4(1.0, 1.25, 1.5, 1.75);
    vec4 s1 = s0 + 1.0;
    vec4 s2 = s0 + 2.0;
    vec4 s3 = s0 + 3.0;
    vec4 s4 = s0 + 4.0;
    vec4 s5 = s0 + 5.0;
    vec4 s6 = s0 + 6.0;
    vec4 s7 = s0 + 7.0;
    for (int round = 0; round < rounds; ++round) {
        REPEAT_8(STEP, 0)
    }
    result = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
}
