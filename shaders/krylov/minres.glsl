// alpha = v . (A v - shift v - (beta / beta_old) r1): an entry of the tridiagonal matrix.

#ifndef SHIFT
#define SHIFT shift  // or 0.0, with no uniform to set
#endif

#include "krylov/krylov.glsl"

uniform sampler2D along;  // partial sums of (v . q, v . r1, v . v), q = A v
uniform sampler2D K;      // (beta, beta_old, ...)
uniform float shift;

vec4 entry() {  // (beta / beta_old, alpha / beta, alpha, shift)
    vec4 k = texelFetch(K, ivec2(0), 0);
    vec4 s = folded(along);
    float past = k.g > 0.0 ? quotient(k.r, k.g) : 0.0;
    float alpha = s.r - SHIFT * s.b - past * s.g;
    return vec4(past, k.r > 0.0 ? quotient(alpha, k.r) : 0.0, alpha, SHIFT);
}
