// r2' = q - shift v - (beta / beta_old) r1 - (alpha / beta) r2, r1' = r2: the Lanczos recurrence, q = A v.
//
// A fragment computes four elements of both.
// q, v, r1, r2  wrapped        along, K, shift  see `minres.glsl`
// Cost per fragment: 4 fetches, 24 flop.
// Fetches: 4.
// Paige and Saunders, "Solution of sparse indefinite systems of linear equations" (1975).

uniform sampler2D q;
uniform sampler2D v;
uniform sampler2D r1;
uniform sampler2D r2;

flat in vec4 c;  // (beta / beta_old, alpha / beta, alpha, shift)

layout(location = 0) out vec4 r2_next;
layout(location = 1) out vec4 r1_next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    r1_next = texelFetch(r2, own, 0);
    vec4 rest = texelFetch(q, own, 0) - c.a * texelFetch(v, own, 0);
    rest -= c.r * texelFetch(r1, own, 0);
    r2_next = rest - c.g * r1_next;
}
