// x' = x + alpha p, r' = r - alpha q: a step of conjugate gradients, with q = A p.
//
// A fragment computes four elements of both.
// x, r, p, q  wrapped        along, K  see `cg_step.vert`
// Cost per fragment: 4 fetches, 16 flop.
// Fetches: 4.
// Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), section 3.

#include "lib/sampled.glsl"

uniform sampler2D x;
uniform sampler2D r;
uniform sampler2D p;
uniform sampler2D q;

flat in float alpha;

layout(location = 0) out vec4 x_next;
layout(location = 1) out vec4 r_next;

void main() {
    FIND_OWN(r)
    x_next = OWN(x) + alpha * OWN(p);
    r_next = OWN(r) - alpha * OWN(q);
}
