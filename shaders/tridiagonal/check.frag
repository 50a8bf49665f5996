// (error, left, rhs, x): the worst of a system, by which the host decides whether its solution is accepted.
//
//     error = max |rhs - lower x[i-1] - diagonal x[i] - upper x[i+1]| / (|lower x[i-1]| + ... + |rhs| + 2^-100)
//     left  = what is left of the least pivot
//     rhs, x = the largest magnitudes
//
// A fragment looks at `chunk` rows; with FOLD at as many results of the pass before. NaN and infinity make the error
// 2^100: maxima may drop them.
// E, X, L    n equations and unknowns of each system; L has n rows, or 1
// F          FOLD: results of the pass before
// diagnostics    a texel for each chunk
// Cost per fragment: 2 chunk + 2 fetches, and one of each row of L; FOLD: chunk.
// Oettli and Prager, "Compatibility of approximate solution of linear equations" (1964): componentwise backward error.

#ifndef FOLD
#define FOLD 0  // look at equations (0), or at results of the pass before (1)
#endif

#include "lib/tridiagonal.glsl"

#if FOLD
uniform sampler2D F;
#else
uniform sampler2D E;
uniform sampler2D X;
uniform sampler2D L;
uniform int left_rows;  // of L
#endif
uniform int n;      // equations of a system, or results
uniform int chunk;  // of them for one fragment

layout(location = 0) out vec4 diagnostics;

#if FOLD == 0
float unknown(int i) {
    return i < 0 || i >= n ? 0.0 : texelFetch(X, place_of(i), 0).r;
}

vec4 measured(int i, vec3 x) {
    vec4 row = equation(E, i, n);
    float before = row.r * x.x;
    float own = row.g * x.y;
    float after = row.b * x.z;
    float rest = row.a - own;
    rest -= before;
    rest -= after;
    float size = abs(row.a) + abs(own);
    size += abs(before);
    size += abs(after);
    float error = quotient(abs(rest), size + FLOOR);
    if (!is_finite(x.y) || !is_finite(row.g) || !is_finite(row.a) || !is_finite(error)) error = REFUSED;
    float left = i < left_rows ? texelFetch(L, place_of(i), 0).r : 1.0;
    return vec4(error, left, abs(row.a), abs(x.y));
}
#endif

void main() {
    int first = own_row() * chunk;
    int end = min(first + chunk, n);
    vec4 worst = vec4(0.0, 1.0, 0.0, 0.0);
#if FOLD == 0
    vec3 x = vec3(0.0, unknown(first - 1), unknown(first));
#endif
    for (int i = first; i < end; ++i) {
#if FOLD
        vec4 found = texelFetch(F, place_of(i), 0);
#else
        x = vec3(x.yz, unknown(i + 1));
        vec4 found = measured(i, x);
#endif
        worst.r = max(worst.r, found.r);
        worst.g = least_of(worst.g, found.g);
        worst.ba = max(worst.ba, found.ba);
    }
    diagnostics = worst;
}
