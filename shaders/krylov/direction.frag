// p' = u + beta p: the next direction of conjugate gradients.
//
// A fragment computes four elements.
// u  the residual, preconditioned        p  the direction so far        K  (alpha, beta, ...), a texel
// Cost per fragment: 3 fetches, 8 flop.
// Fetches: 3.
// Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), section 3.

#include "lib/sampled.glsl"

uniform sampler2D u;
uniform sampler2D p;
uniform sampler2D K;

layout(location = 0) out vec4 next;

void main() {
    FIND_OWN(p)
    float beta = TEXEL(K).g;
    next = OWN(u) + beta * OWN(p);
}
