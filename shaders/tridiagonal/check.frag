// (error, left, rhs, x): the worst of a system, by which the host decides whether its solution stands.
//
//     error = max |rhs - lower x[i-1] - diagonal x[i] - upper x[i+1]| / (|lower x[i-1]| + ... + |rhs| + 2^-100)
//     left  = what is left of the least pivot
//     rhs, x = the largest magnitudes
//
// A fragment looks at `chunk` rows; with FOLD at as many results of the pass before. NaN and infinity make the error
// 2^100: maxima may drop them.
// E, X, L    n equations and unknowns of each system; L has n rows, or 1
// F          FOLD: results of the pass before
// figures    a texel for each chunk
// Cost per fragment: 5 chunk fetches; FOLD: chunk.
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

layout(location = 0) out vec4 figures;

const float REFUSED = 1.2676506e30;  // 2^100
const float FLOOR = 7.8886091e-31;   // 2^-100

bool finite(float a) {
    return !is_nan(a) && !is_infinite(a);
}

#if FOLD == 0
float unknown(int i) {
    return i < 0 || i >= n ? 0.0 : texelFetch(X, place_of(i), 0).r;
}

vec4 figures_of(int i) {
    vec4 row = equation(E, i, n);
    float x = unknown(i);
    float before = row.r * unknown(i - 1);
    float own = row.g * x;
    float after = row.b * unknown(i + 1);
    float rest = row.a - own;
    rest -= before;
    rest -= after;
    float size = abs(row.a) + abs(own);
    size += abs(before);
    size += abs(after);
    float error = quotient(abs(rest), size + FLOOR);
    if (!finite(x) || !finite(row.g) || !finite(row.a) || !finite(error)) error = REFUSED;
    float left = texelFetch(L, place_of(min(i, left_rows - 1)), 0).r;
    return vec4(error, left, abs(row.a), abs(x));
}
#else
vec4 figures_of(int i) {
    return texelFetch(F, place_of(i), 0);
}
#endif

void main() {
    int first = own_row() * chunk;
    int end = min(first + chunk, n);
    vec4 worst = vec4(0.0, 1.0, 0.0, 0.0);
    for (int i = first; i < end; ++i) {
        vec4 found = figures_of(i);
        worst.r = max(worst.r, found.r);
        worst.g = least_of(worst.g, found.g);
        worst.ba = max(worst.ba, found.ba);
    }
    figures = worst;
}
