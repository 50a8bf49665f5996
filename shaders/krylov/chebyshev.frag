// d' = w0 d + w1 (r - A y), y' = y + d': a step of the Chebyshev semi-iteration for A y = r.
//
// A fragment computes four elements of both. FIRST begins with d = y = 0.
// r, q = A y, d, y  wrapped        weights  (w0, w1)
// Cost per fragment: 4 fetches (FIRST: 1), 20 flop.
// Fetches: 4 - 3 * FIRST.
// Saad, "Iterative methods for sparse linear systems" (2003), algorithm 12.1.

#ifndef FIRST
#define FIRST 0  // the first step (0, 1)
#endif

uniform sampler2D r;
#if !FIRST
uniform sampler2D q;
uniform sampler2D d;
uniform sampler2D y;
#endif
uniform vec2 weights;

layout(location = 0) out vec4 step_next;
layout(location = 1) out vec4 y_next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 residual = texelFetch(r, own, 0);
#if FIRST
    step_next = weights.g * residual;
    y_next = step_next;
#else
    residual -= texelFetch(q, own, 0);
    step_next = weights.r * texelFetch(d, own, 0) + weights.g * residual;
    y_next = texelFetch(y, own, 0) + step_next;
#endif
}
