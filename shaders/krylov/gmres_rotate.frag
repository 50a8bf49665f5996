// Column `number` of the triangular matrix: h1 + h2, turned by all rotations so far and by a new one.
//
// A fragment computes a texel of a table that is as wide as a cycle has steps, and one higher; columns of earlier steps
// are copied, later ones zero.
// h1, h2   inner products with the basis of both rounds of Gram and Schmidt, four to a texel
// size     the norm of what is left        start  the norm of the residual that the cycle begins with
// before   the table so far        bound  the square of the residual that is wanted
// table    R[i, k] in the first channel of row i of column k; below them (cosine, sine, g_k, residual behind step k)
// Once the residual is as small as wanted, or the space is exhausted, a column is that of the identity, with g_k = 0, so
// that the step does not count.
// Cost per fragment: up to 5 + 5 number fetches.
// Fetches: 0 to 7 + 5 * number.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986),
// section 3.2.

#ifndef FIRST
#define FIRST 0  // the first step of a cycle (0, 1)
#endif
#ifndef STEPS
#define STEPS 1  // steps of a cycle
#endif

#include "krylov/krylov.glsl"

uniform sampler2D h1;
uniform sampler2D h2;
uniform sampler2D size;
uniform sampler2D start;
uniform sampler2D bound;
#if !FIRST
uniform sampler2D before;
#endif
uniform int number;  // of the step, from 0

layout(location = 0) out vec4 table;

float entry(int i) {
    ivec2 at = ivec2(i >> 2, 0);
    return texelFetch(h1, at, 0)[i & 3] + texelFetch(h2, at, 0)[i & 3];
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    table = vec4(0.0);
#if !FIRST
    if (own.x < number) table = texelFetch(before, own, 0);
    float rest = texelFetch(before, ivec2(number - 1, STEPS), 0).a;
#else
    float rest = texelFetch(start, ivec2(0), 0).r;
#endif
    if (own.x != number) return;

    float running = entry(0);  // of the column, the entry that the next rotation turns
    float mine = running;
    float largest = abs(running);
#if !FIRST
    for (int k = 0; k < number; ++k) {
        vec2 turn = texelFetch(before, ivec2(k, STEPS), 0).rg;
        float below = entry(k + 1);
        largest = max(largest, abs(below));
        float upper = turn.r * running + turn.g * below;
        running = turn.r * below - turn.g * running;
        if (own.y == k) mine = upper;
    }
#endif
    float left = texelFetch(size, ivec2(0), 0).r;
    largest = max(largest, left);
    float length = sqrt(running * running + left * left);
    bool wanted = rest * rest > max(texelFetch(bound, ivec2(0), 0).r, NO_LESS);
    bool counts = wanted && is_finite(length) && length > 1e-6 * largest && largest > 0.0;
    float cosine = counts ? quotient(running, length) : 1.0;
    float sine = counts ? quotient(left, length) : 0.0;
    if (own.y == STEPS) {
        table = counts ? vec4(cosine, sine, cosine * rest, -sine * rest) : vec4(1.0, 0.0, 0.0, rest);
    } else if (own.y == number) {
        table = vec4(counts ? length : 1.0, 0.0, 0.0, 0.0);
    } else {
        table = vec4(counts && own.y < number ? mine : 0.0, 0.0, 0.0, 0.0);
    }
}
