// result = before + 1: every texel counted up by one
//
// A pass that needs the one before: the price of a ping-pong draw.
//
// A fragment computes one texel.
// before   of the target's size
// Cost per fragment: 1 fetch.

uniform sampler2D before;

layout(location = 0) out vec4 result;

void main() {
    result = texelFetch(before, ivec2(gl_FragCoord.xy), 0) + 1.0;
}
