// beta = gamma' / gamma with gamma' = r . M r, and whether it is time to stop.
//
// One texel. It stops where r . r is within the bound, or where there is no way on: see `krylov/krylov.glsl`.
// sums   partial sums of (r . M r, -, r . r), with MERGED of (r . M r, A M r . M r, r . r)
// before (alpha, beta, gamma, ...) of the last iteration        along  partial sums of p . A p, without MERGED
// bound  its first channel: the square of the residual that is wanted
// K      (alpha, beta, gamma, r . r)        state  (0 to go on, 1 converged, 2 broken down; r . r, 0, 0)
// With MERGED the next step's length comes from the recurrence p . A p = A u . u - beta gamma' / alpha, u = M r, so that
// an iteration has one reduction; FIRST begins with beta = 0.
// Cost per fragment: a fetch for each partial sum, and 2.
// Fetches: 1 + sums_height * sums_width to 3 + 2 * sums_height * sums_width.
// Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems" (1989), section 3.

#ifndef MERGED
#define MERGED 1  // the recurrence with one reduction (0, 1)
#endif
#ifndef FIRST
#define FIRST 0  // before the first step (0, 1)
#endif

#include "iterate/latch.glsl"
#include "krylov/krylov.glsl"
#if !MERGED && !FIRST
#include "krylov/cg.glsl"
#endif

uniform sampler2D sums;
uniform sampler2D bound;
#if !FIRST
uniform sampler2D before;
#endif

layout(location = 0) out vec4 K;
layout(location = 1) out vec4 state;
#if LATCHED
layout(location = 2) out ivec4 latched;
#endif

void main() {
    vec4 s = folded(sums);
    float gamma = s.r;
    float beta = 0.0;
    bool sound = is_positive(gamma);
    float alpha = 0.0;
#if MERGED
    float curvature = s.g;
#if !FIRST
    vec4 old = texelFetch(before, ivec2(0), 0);
    beta = quotient(gamma, old.b);
    curvature -= beta * quotient(gamma, old.r);
#endif
    alpha = quotient(gamma, curvature);
    sound = sound && is_positive(curvature) && is_finite(alpha);
#elif !FIRST
    vec4 old = texelFetch(before, ivec2(0), 0);
    beta = quotient(gamma, old.b);
    sound = sound && length_of_step(old.b).g == 1.0;
#endif
    sound = sound && is_finite(beta);
    bool small = is_small(s.b, texelFetch(bound, ivec2(0), 0).r);
    K = sound ? vec4(alpha, beta, gamma, s.b) : vec4(0.0, 0.0, 1.0, s.b);
    state = vec4(small ? CONVERGED : (sound ? RUNNING : BREAKDOWN), s.b, 0.0, 0.0);
    LATCH(state.r)
}
