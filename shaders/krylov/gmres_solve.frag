// R y = g: back substitution with the table of a cycle, and whether to stop.
//
// A fragment computes all of y, and draws up to four, negative.
// table  see `gmres_rotate.frag`        bound  the square of the residual that is wanted
// h      its first texel has the norm of the residual before        last  the state behind the cycle before, or zeros
// y      for `products.glsl`        state  (0 to go on, 1 converged, 2 stuck, 3 stalled; square of the residual, norm before)
// A cycle begins with the true residual of x. Where that is no smaller than the last one, float32 holds no better x.
// Cost per fragment: STEPS^2 / 2 fetches at most.
// Fetches: 4 to 5 + STEPS * (STEPS + 3).
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#include "krylov/gmres.glsl"
#include "krylov/krylov.glsl"

uniform sampler2D table;
uniform sampler2D h;
uniform sampler2D last;
uniform sampler2D bound;

layout(location = 0) out vec4 y;
layout(location = 1) out vec4 state;

void main() {
    y = vec4(0.0);
    float values[STEPS];
    for (int i = STEPS - 1; i >= 0; --i) {
        float sum = texelFetch(table, ivec2(i, STEPS), 0).b;
        for (int k = i + 1; k < STEPS; ++k) sum -= texelFetch(table, ivec2(k, i), 0).r * values[k];
        values[i] = quotient(sum, texelFetch(table, ivec2(i, i), 0).r);
        if (place(i) >> 2 == int(gl_FragCoord.y)) y[place(i) & 3] = -values[i];
    }
    float first = texelFetch(h, ivec2(0), 0).g;
    float rest = texelFetch(table, ivec2(STEPS - 1, STEPS), 0).a;
    bool done = is_small(rest * rest, texelFetch(bound, ivec2(0), 0).r);
    bool moved = is_finite(rest) && abs(rest) < 0.99999 * first;
    float before = texelFetch(last, ivec2(0), 0).b;
    bool stalled = before > 0.0 && first >= before;
    state = vec4(done ? CONVERGED : (!moved ? BREAKDOWN : (stalled ? STALLED : RUNNING)), rest * rest, first, 0.0);
}
