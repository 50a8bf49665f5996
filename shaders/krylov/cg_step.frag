// x' = x + alpha p, r' = r - alpha q: a step of conjugate gradients, with q = A p.
//
// A fragment computes four elements of both.
// x, r, p, q  wrapped        K  (alpha, ...), a texel
// Cost per fragment: 5 fetches, 16 flop.
// Fetches: 5.
// Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), section 3.

#include "lib/sampled.glsl"

uniform sampler2D x;
uniform sampler2D r;
uniform sampler2D p;
uniform sampler2D q;
uniform sampler2D K;

layout(location = 0) out vec4 x_next;
layout(location = 1) out vec4 r_next;

void main() {
    FIND_OWN(r)
    float alpha = TEXEL(K).r;
    x_next = OWN(x) + alpha * OWN(p);
    r_next = OWN(r) - alpha * OWN(q);
}
