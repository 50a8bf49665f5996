// p' = u + beta p, s' = w + beta s, x' = x + alpha p', r' = r - alpha s': all vectors of a merged iteration in one pass.
//
// A fragment computes four elements of each. u = M r, w = A u, and s = A p by recurrence.
// p, s, x, r, w  wrapped        u  with PRECONDITIONED; otherwise it is r        K  (alpha, beta, ...), a texel
// Cost per fragment: 6 fetches (PRECONDITIONED: 7), 32 flop.
// Fetches: 6 + PRECONDITIONED.
// Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems" (1989), section 3.

#ifndef PRECONDITIONED
#define PRECONDITIONED 0  // u is another vector than r (0, 1)
#endif

#include "lib/sampled.glsl"

uniform sampler2D p;
uniform sampler2D s;
uniform sampler2D x;
uniform sampler2D r;
uniform sampler2D w;
#if PRECONDITIONED
uniform sampler2D u;
#endif
uniform sampler2D K;

layout(location = 0) out vec4 p_next;
layout(location = 1) out vec4 s_next;
layout(location = 2) out vec4 x_next;
layout(location = 3) out vec4 r_next;

void main() {
    FIND_OWN(r)
    vec4 k = TEXEL(K);
    vec4 residual = OWN(r);
#if PRECONDITIONED
    vec4 direction = OWN(u);
#else
    vec4 direction = residual;
#endif
    p_next = direction + k.g * OWN(p);
    s_next = OWN(w) + k.g * OWN(s);
    x_next = OWN(x) + k.r * p_next;
    r_next = residual - k.r * s_next;
}
