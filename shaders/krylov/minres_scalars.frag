// The scalars of an iteration of minimal residuals: the next beta, and a rotation of the tridiagonal matrix.
//
// One texel of each target.
// sums  partial sums of (r2 . M r2) = beta'^2; with FIRST of (r . M r, -, r . r)        along, shift  see `minres.glsl`
// K     (beta, beta_old, the square of the residual in M's norm that is wanted, that residual: phi bar)
// J     (delta bar, epsilon, cosine, sine) of the rotation before; FIRST begins with (0, 0, -1, 0)
// L     (phi, gamma, delta, epsilon before): what `minres_step.frag` moves x by; gamma 0 is no move
// state (0 to go on, 1 converged, 2 broken down; phi bar^2, 0, 0)
// Cost per fragment: a fetch for each partial sum, and 1 (FIRST) or 3.
// Fetches: 1 + sums_height * sums_width to 4 + 2 * sums_height * sums_width.
// Paige and Saunders, "Solution of sparse indefinite systems of linear equations" (1975), section 6.

#ifndef FIRST
#define FIRST 0  // before the first iteration (0, 1)
#endif

#include "iterate/latch.glsl"
#include "krylov/krylov.glsl"
#if !FIRST
#include "krylov/minres.glsl"
#endif

uniform sampler2D sums;
#if FIRST
uniform sampler2D bound;
#else
uniform sampler2D J;
#endif

layout(location = 0) out vec4 K_next;
layout(location = 1) out vec4 J_next;
layout(location = 2) out vec4 L;
layout(location = 3) out vec4 state;
#if LATCHED
layout(location = 4) out ivec4 latched;
#endif

#define NEGLIGIBLE 1e-6  // beta or gamma so small beside alpha and the old beta is rounding error

void main() {
    vec4 s = folded(sums);
    bool sound = is_finite(s.r) && s.r >= 0.0;
    float beta = sound ? sqrt(s.r) : 0.0;
#if FIRST
    float wanted = texelFetch(bound, ivec2(0), 0).r;
    K_next = vec4(beta, 0.0, quotient(wanted, s.b) * s.r, beta);
    J_next = vec4(0.0, 0.0, -1.0, 0.0);
    L = vec4(0.0);
    state = vec4(is_small(s.b, wanted) ? CONVERGED : (sound && beta > 0.0 ? RUNNING : BREAKDOWN), s.b, 0.0, 0.0);
#else
    vec4 k = texelFetch(K, ivec2(0), 0);
    vec4 j = texelFetch(J, ivec2(0), 0);
    float alpha = entry().b;
    float scale = abs(alpha) + (k.g > 0.0 ? k.r : 0.0);  // the first beta is norm(b), no entry of the matrix
    if (beta <= NEGLIGIBLE * scale) beta = 0.0;  // the Krylov space is exhausted
    float delta = j.b * j.r + j.a * alpha;
    float gamma_bar = j.a * j.r - j.b * alpha;
    float gamma = sqrt(gamma_bar * gamma_bar + beta * beta);
    sound = sound && is_finite(gamma) && gamma > NEGLIGIBLE * scale;
    float cosine = sound ? quotient(gamma_bar, gamma) : 1.0;
    float sine = sound ? quotient(beta, gamma) : 1.0;
    float rest = sine * k.a;
    K_next = vec4(beta, k.r, k.b, rest);
    J_next = vec4(-j.b * beta, j.a * beta, cosine, sine);
    L = sound ? vec4(cosine * k.a, gamma, delta, j.g) : vec4(0.0);
    bool done = sound && is_small(rest * rest, k.b);
    state = vec4(done ? CONVERGED : (sound && beta > 0.0 ? RUNNING : BREAKDOWN), rest * rest, 0.0, 0.0);
#endif
    LATCH(state.r)
}
