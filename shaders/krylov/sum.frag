// The sum of two vectors: c = a + b.
//
// A fragment computes four elements.
// a, b  wrapped
// Cost per fragment: 2 fetches, 4 flop.
// Fetches: 2.

uniform sampler2D a;
uniform sampler2D b;

layout(location = 0) out vec4 c;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    c = texelFetch(a, own, 0) + texelFetch(b, own, 0);
}
