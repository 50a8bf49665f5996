// x' = x + alpha p, r' = r - alpha q: a step of conjugate gradients, with q = A p.
//
// A fragment computes four elements of both.
// x, r, p, q  wrapped        K  (alpha, ...), a texel
// Cost per fragment: 5 fetches, 16 flop.
// Fetches: 5.
// Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), section 3.

uniform sampler2D x;
uniform sampler2D r;
uniform sampler2D p;
uniform sampler2D q;
uniform sampler2D K;

layout(location = 0) out vec4 x_next;
layout(location = 1) out vec4 r_next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    float alpha = texelFetch(K, ivec2(0), 0).r;
    x_next = texelFetch(x, own, 0) + alpha * texelFetch(p, own, 0);
    r_next = texelFetch(r, own, 0) - alpha * texelFetch(q, own, 0);
}
