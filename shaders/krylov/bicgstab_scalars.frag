// The scalars of the stabilised method of biconjugate gradients, PART of an iteration after PART.
//
// One texel. A quotient that is no finite number is a breakdown: the texel says -1 for rho, and the iteration moves no more.
// PART 0  sums (r~ . r, -, r . r): before the first iteration, alpha = omega = 1, beta = 0
// PART 1  sums (r~ . v): alpha = rho / (r~ . v)
// PART 2  sums (t . s, t . t, s . s): omega = (t . s) / (t . t), 0 where s is as small as wanted
// PART 3  sums (r~ . r, -, r . r): rho' = r~ . r, beta = (rho' / rho) (alpha / omega); and whether to stop
// before  K of the part before        bound  square of the residual that is wanted
// K       (alpha, beta, omega, rho); rho 0 is a breakdown        state  (0, 1 converged, 2 broken down; r . r, 0, 0)
// Cost per fragment: a fetch for each partial sum, and 2.
// Fetches: 1 + sums_height * sums_width to 2 + sums_height * sums_width.
// Van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992).

#ifndef PART
#define PART 0  // of an iteration (0, 1, 2, 3)
#endif

#include "iterate/latch.glsl"
#include "krylov/krylov.glsl"

uniform sampler2D sums;
#if PART > 0
uniform sampler2D before;
#define BEFORE texelFetch(before, ivec2(0), 0)
#else
#define BEFORE vec4(1.0, 0.0, 1.0, s.r)
#endif
#if PART != 1
uniform sampler2D bound;
#define BOUND texelFetch(bound, ivec2(0), 0).r
#else
#define BOUND 0.0
#endif

layout(location = 0) out vec4 K;
#if PART == 0 || PART == 3
layout(location = 1) out vec4 state;
#if LATCHED
layout(location = 2) out ivec4 latched;
#endif
#endif

float sound(float a, float otherwise) {
    return is_finite(a) ? a : otherwise;
}

void main() {
    vec4 s = folded(sums);
    K = BEFORE;
    if (PART == 1) {
        float alpha = s.r == 0.0 ? NOT_A_NUMBER : quotient(K.a, s.r);
        K = is_finite(alpha) ? vec4(alpha, K.gba) : vec4(0.0);
    } else if (PART == 2) {
        bool small = is_small(s.b, 0.25 * BOUND);
        float omega = s.g == 0.0 ? 0.0 : quotient(s.r, s.g);
        K.b = small ? 0.0 : sound(omega, 0.0);
    } else if (PART == 3) {
        float beta = K.b == 0.0 || K.a == 0.0 ? NOT_A_NUMBER : quotient(s.r, K.a) * quotient(K.r, K.b);
        K = is_finite(beta) && is_finite(s.r) ? vec4(K.r, beta, K.b, s.r) : vec4(0.0);
    }
#if PART == 0 || PART == 3
    bool done = is_small(s.b, BOUND);
    state = vec4(done ? CONVERGED : (K.a == 0.0 ? BREAKDOWN : RUNNING), s.b, 0.0, 0.0);
    LATCH(state.r)
#endif
}
