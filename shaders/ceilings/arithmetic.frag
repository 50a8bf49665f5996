// sums of s <- (s m + c) r + d, over and over, for 32 independent s: what the arithmetic alone can do
//
// m, c, r = 1 / m and d = -c / m are fetched, so that the compiler cannot know that a step leads back to where it began:
// the s stay what they were but for rounding errors, neither grow nor vanish, and their bits keep changing.
//
// A fragment computes the four channels of s0 + ... + s7.
// coefficients   64 x 64, (m, c, r, d) in a texel, m and c of about 1
// Cost per fragment: 1 fetch, 1024 flop a round.

#include "lib/repeat.glsl"

uniform sampler2D coefficients;
uniform int rounds;

layout(location = 0) out vec4 result;

#define STEP(i)       \
    s0 = s0 * m + c;  \
    s1 = s1 * m + c;  \
    s2 = s2 * m + c;  \
    s3 = s3 * m + c;  \
    s4 = s4 * m + c;  \
    s5 = s5 * m + c;  \
    s6 = s6 * m + c;  \
    s7 = s7 * m + c;  \
    s0 = s0 * r + d;  \
    s1 = s1 * r + d;  \
    s2 = s2 * r + d;  \
    s3 = s3 * r + d;  \
    s4 = s4 * r + d;  \
    s5 = s5 * r + d;  \
    s6 = s6 * r + d;  \
    s7 = s7 * r + d;

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
