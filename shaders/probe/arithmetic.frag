// (a + b, a b, a, is a a NaN?): sums and products of NaN, infinity, zero and denormals
//
// A fragment computes the four numbers of one pair: of NaN, infinities and zeros, or of denormals.
// pairs   a and b in the channels r and g
// Cost per fragment: 1 fetch and 2 flop.

uniform sampler2D pairs;

layout(location = 0) out vec4 result;

void main() {
    vec2 pair = texelFetch(pairs, ivec2(gl_FragCoord.xy), 0).rg;
    float a = pair.r;
    float b = pair.g;
    result = vec4(a + b, a * b, a, a != a ? 1.0 : 0.0);
}
