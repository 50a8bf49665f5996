// r' = r - c v, and x' = x + alpha p + omega z: a step of the stabilised method of biconjugate gradients, or HALF of it.
//
// A fragment computes four elements of both. The first half, r - alpha v with v = A p, leaves x.
// r, v, x, p (preconditioned), z = M r  wrapped; v = A z        K, along, second, bound  see `bicgstab.glsl`
// Cost per fragment: 5 fetches, 24 flop.
// Fetches: 5 - 3 * HALF.
// Van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992).

#ifndef HALF
#define HALF 0  // the first half (0, 1)
#endif

uniform sampler2D r;
uniform sampler2D v;
#if !HALF
uniform sampler2D x;
uniform sampler2D p;
uniform sampler2D z;
#endif

flat in vec4 k;  // (alpha, beta, omega, rho)

layout(location = 0) out vec4 r_next;
#if !HALF
layout(location = 1) out vec4 x_next;
#endif

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    r_next = texelFetch(r, own, 0) - (HALF == 1 ? k.r : k.b) * texelFetch(v, own, 0);
#if !HALF
    x_next = texelFetch(x, own, 0) + k.r * texelFetch(p, own, 0);
    x_next += k.b * texelFetch(z, own, 0);
#endif
}
