// c = a + b, or with SUBTRACT a - b, texel by texel: two textures of the same layout, whatever that is.
//
// A fragment computes one texel.
// Cost per fragment: 2 fetches, 4 flop.
// Fetches: 2.

#ifndef SUBTRACT
#define SUBTRACT 0  // the difference (0, 1)
#endif

uniform sampler2D a;
uniform sampler2D b;

layout(location = 0) out vec4 c;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 right = texelFetch(b, own, 0);
    c = texelFetch(a, own, 0) + (SUBTRACT == 1 ? -right : right);
}
