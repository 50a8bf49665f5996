// p' = r + beta (p - omega v): the next direction of the stabilised method of biconjugate gradients.
//
// A fragment computes four elements.
// r, p, v  wrapped        K  (alpha, beta, omega, rho), a texel
// Cost per fragment: 4 fetches, 16 flop.
// Fetches: 4.
// Van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992).

uniform sampler2D r;
uniform sampler2D p;
uniform sampler2D v;
uniform sampler2D K;

layout(location = 0) out vec4 next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 k = texelFetch(K, ivec2(0), 0);
    vec4 rest = texelFetch(p, own, 0) - k.b * texelFetch(v, own, 0);
    next = texelFetch(r, own, 0) + k.g * rest;
}
