// The scalars of the stabilised method of biconjugate gradients behind an iteration, and whether to stop.
//
// One texel.
// sums    partial sums of (r~ . r, -, r . r): rho' = r~ . r, beta = (rho' / rho) (alpha / omega)
// K_next  (alpha, beta, omega, rho); rho 0 is a breakdown        state  (0, 1 converged, 2 broken down; r . r, 0, 0)
// Cost per fragment: a fetch for each partial sum, and 2.
// Fetches: 3 * sums_height * sums_width to 4 + 3 * sums_height * sums_width.
// Van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992).

#include "iterate/latch.glsl"
#include "krylov/bicgstab.glsl"

uniform sampler2D sums;

layout(location = 0) out vec4 K_next;
layout(location = 1) out vec4 state;
#if LATCHED
layout(location = 2) out ivec4 latched;
#endif

void main() {
    vec4 s = folded(sums), k = behind();
    float beta = k.b == 0.0 || k.a == 0.0 ? NOT_A_NUMBER : quotient(s.r, k.a) * quotient(k.r, k.b);
    K_next = is_finite(beta) && is_finite(s.r) ? vec4(k.r, beta, k.b, s.r) : vec4(0.0);
    bool done = is_small(s.b, texelFetch(bound, ivec2(0), 0).r);
    state = vec4(done ? CONVERGED : (K_next.a == 0.0 ? BREAKDOWN : RUNNING), s.b, 0.0, 0.0);
    LATCH(state.r)
}
