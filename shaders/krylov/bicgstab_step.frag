// x' = x + alpha p + omega z, r' = s - omega t: both halves of a step, with z = M s and t = A z.
//
// A fragment computes four elements of both.
// x, p (preconditioned), z, s, t  wrapped        K  (alpha, beta, omega, rho), a texel
// Cost per fragment: 6 fetches, 24 flop.
// Fetches: 6.
// Van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992).

uniform sampler2D x;
uniform sampler2D p;
uniform sampler2D z;
uniform sampler2D s;
uniform sampler2D t;
uniform sampler2D K;

layout(location = 0) out vec4 x_next;
layout(location = 1) out vec4 r_next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 k = texelFetch(K, ivec2(0), 0);
    vec4 half_way = texelFetch(x, own, 0) + k.r * texelFetch(p, own, 0);
    x_next = half_way + k.b * texelFetch(z, own, 0);
    r_next = texelFetch(s, own, 0) - k.b * texelFetch(t, own, 0);
}
