// The scalars (alpha, beta, omega, rho) of the stabilised method of biconjugate gradients within an iteration. A quotient that
// is no finite number is a breakdown: rho becomes 0, and the iteration moves no more.

#ifndef HALF
#define HALF 0  // behind the first half of a step, before omega is known (0, 1)
#endif

#include "krylov/krylov.glsl"

uniform sampler2D K;       // behind the iteration before
uniform sampler2D along;   // partial sums of (r~ . v)
#if !HALF
uniform sampler2D second;  // partial sums of (t . s, t . t, s . s)
uniform sampler2D bound;   // square of the residual that is wanted
#endif

vec4 behind() {
    vec4 k = texelFetch(K, ivec2(0), 0), s = folded(along);
    k.r = s.r == 0.0 ? NOT_A_NUMBER : quotient(k.a, s.r);
    if (!is_finite(k.r)) k = vec4(0.0);
#if !HALF
    s = folded(second);
    k.b = s.g == 0.0 ? 0.0 : quotient(s.r, s.g);
    if (!is_finite(k.b) || is_small(s.b, 0.25 * texelFetch(bound, ivec2(0), 0).r)) k.b = 0.0;
#endif
    return k;
}
