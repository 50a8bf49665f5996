// (a / b, a / b as glla divides, sqrt |a|, 0): quotients and roots, to see how far they are off
//
// GLSL 3.30 promises no accuracy for a quotient or a root; the host compares with float64.
//
// A fragment computes the numbers of one pair.
// pairs   a and b in the channels r and g
// Cost per fragment: 1 fetch, 2 divisions and a root.

#include "lib/divide.glsl"

uniform sampler2D pairs;

layout(location = 0) out vec4 result;

void main() {
    vec2 pair = texelFetch(pairs, ivec2(gl_FragCoord.xy), 0).rg;
    result = vec4(pair.r / pair.g, quotient(pair.r, pair.g), sqrt(abs(pair.r)), 0.0);
}
