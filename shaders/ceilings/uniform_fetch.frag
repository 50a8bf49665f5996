// sum of 16 elements of a uniform block, over and over, at indices that all fragments share
//
// A fragment computes x, y, y, x plus the sum over `rounds` groups of 16; round k takes the elements from 16 (k mod 64) on.
// Panel   1024 vec4, as much as OpenGL 3.3 grants
// Cost per fragment: 16 reads a round.

#include "lib/repeat.glsl"

layout(std140) uniform Panel {
    vec4 panel[1024];
};
uniform int rounds;

layout(location = 0) out vec4 result;

#define FETCH(i) sum += panel[first + (i)];

void main() {
    vec4 sum = floor(gl_FragCoord.xyyx);
    for (int round = 0; round < rounds; ++round) {
        int first = 16 * (round & 63);
        REPEAT_16(FETCH, 0)
    }
    result = sum;
}
