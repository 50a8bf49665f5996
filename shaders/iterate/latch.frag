// state' = state once it says stop, else (iterations + 1, does the stop texel say stop, that texel's first channel, 0).
//
// One texel: the number of iterations until the first that said stop. Later ones change nothing, so a host that looks at
// it late finds what it would have found at once. Any number but 0 says stop, and so does NaN: decided on the bits.
// stop    any texture, of which texel (0, 0) is read     state   1x1 integers, zeros before the first iteration
// Fetches: 2.

#ifndef INTEGERS
#define INTEGERS 0  // whether `stop` holds integers (0, 1)
#endif

#if INTEGERS
uniform isampler2D stop;
int bits() {
    return texelFetch(stop, ivec2(0), 0).r;
}
#else
uniform sampler2D stop;
int bits() {
    return floatBitsToInt(texelFetch(stop, ivec2(0), 0).r);
}
#endif

#include "iterate/latch.glsl"

uniform isampler2D state;

layout(location = 0) out ivec4 latched;

void main() {
    int said = bits();
    latched = later(texelFetch(state, ivec2(0), 0), said, INTEGERS == 1 ? said == 0 : (said & 0x7fffffff) == 0);
}
