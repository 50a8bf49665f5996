// The triangular matrix of a cycle: each column of h turned by all rotations so far and by a new one.
//
// A fragment computes a texel of a table that is as wide as a cycle has steps, and one higher, and all columns before.
// h        see `gmres_sum.frag`        bound  the square of the residual that is wanted
// table    R[i, k] in the first channel of row i of column k; below them (cosine, sine, g_k, residual behind step k)
// Once the residual is as small as wanted, or the space is exhausted, a column is that of the identity, with g_k = 0, so
// that the step does not count.
// Cost per fragment: up to STEPS (STEPS + 5) / 2 fetches.
// Fetches: 4 to 2 + STEPS * (STEPS + 5) / 2.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#include "krylov/gmres.glsl"
#include "krylov/krylov.glsl"

uniform sampler2D h;
uniform sampler2D bound;

layout(location = 0) out vec4 table;

float entry(int i, int column) {
    return texelFetch(h, ivec2(place(i) >> 2, column + 1), 0)[place(i) & 3];
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec2 turns[STEPS];
    float rest = entry(0, -1), wanted = max(texelFetch(bound, ivec2(0), 0).r, NO_LESS);
    for (int number = 0; number <= own.x; ++number) {
        float running = entry(0, number);  // of the column, the entry that the next rotation turns
        float mine = running;
        float largest = abs(running);
        for (int k = 0; k < number; ++k) {
            float below = entry(k + 1, number);
            largest = max(largest, abs(below));
            float upper = turns[k].r * running + turns[k].g * below;
            running = turns[k].r * below - turns[k].g * running;
            if (own.y == k) mine = upper;
        }
        float left = entry(number + 1, number);
        largest = max(largest, left);
        float length = sqrt(running * running + left * left);
        bool counts = rest * rest > wanted && is_finite(length) && length > 1e-6 * largest && largest > 0.0;
        turns[number] = counts ? vec2(quotient(running, length), quotient(left, length)) : vec2(1.0, 0.0);
        if (own.y == number) mine = length;
        table = vec4(counts && own.y <= number ? mine : own.y == number ? 1.0 : 0.0, 0.0, 0.0, 0.0);
        float moved = counts ? turns[number].r * rest : 0.0;
        if (counts) rest = -turns[number].g * rest;
        if (own.y == STEPS) table = vec4(turns[number], moved, rest);
    }
}
