// r = b - q, with q = A x.
//
// A fragment computes four elements.
// b, q  wrapped
// Cost per fragment: 2 fetches, 4 flop.
// Fetches: 2.

uniform sampler2D b;
uniform sampler2D q;

layout(location = 0) out vec4 r;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    r = texelFetch(b, own, 0) - texelFetch(q, own, 0);
}
