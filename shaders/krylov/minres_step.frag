// w' = (v - epsilon w_old - delta w) / gamma, x' = x + phi w', w_old' = w: a step of minimal residuals; and v' = y / beta.
//
// A fragment computes four elements of all four.
// v, w_old, w, x, y  wrapped        L  (phi, gamma, delta, epsilon), a texel; gamma 0 is no move        K  (beta, ...)
// Cost per fragment: 7 fetches, 32 flop.
// Fetches: 2 to 7.
// Paige and Saunders, "Solution of sparse indefinite systems of linear equations" (1975), section 6.

#include "lib/divide.glsl"

uniform sampler2D v;
uniform sampler2D w_old;
uniform sampler2D w;
uniform sampler2D x;
uniform sampler2D y;
uniform sampler2D K;
uniform sampler2D L;

layout(location = 0) out vec4 x_next;
layout(location = 1) out vec4 w_next;
layout(location = 2) out vec4 w_old_next;
layout(location = 3) out vec4 v_next;

float reciprocal(float a) {
    return a > 0.0 ? quotient(1.0, a) : 0.0;
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 l = texelFetch(L, ivec2(0), 0);
    w_old_next = texelFetch(w, own, 0);
    vec4 rest = texelFetch(v, own, 0) - l.a * texelFetch(w_old, own, 0);
    rest -= l.b * w_old_next;
    w_next = reciprocal(l.g) * rest;
    x_next = texelFetch(x, own, 0) + l.r * w_next;
    v_next = reciprocal(texelFetch(K, ivec2(0), 0).r) * texelFetch(y, own, 0);
}
