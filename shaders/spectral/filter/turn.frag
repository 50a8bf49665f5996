// y' = a A y + b y + c x: a turn of a three-term recurrence, as that of Chebyshev polynomials, for many columns at once.
//
// A fragment computes four elements. x is the y of the turn before; FIRST has none.
// q = A y, y, x  wrapped      weights  texel `turn` has (a, b, c): of values that the device found, so no uniforms
// Cost per fragment: 4 fetches (FIRST: 3), 20 flop.
// Fetches: 4 - FIRST.

#ifndef FIRST
#define FIRST 0  // the first turn (0, 1)
#endif

uniform sampler2D q;
uniform sampler2D y;
#if !FIRST
uniform sampler2D x;
#endif
uniform sampler2D weights;
uniform int turn;

layout(location = 0) out vec4 next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 weight = texelFetch(weights, ivec2(turn, 0), 0);
    next = weight.r * texelFetch(q, own, 0) + weight.g * texelFetch(y, own, 0);
#if !FIRST
    next += weight.b * texelFetch(x, own, 0);
#endif
}
