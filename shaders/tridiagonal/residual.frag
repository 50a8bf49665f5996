// (lower, diagonal, upper, rhs - lower x[i-1] - diagonal x[i] - upper x[i+1]): the system of a correction.
//
// A fragment computes one equation.
// E   n equations of each system      X   n unknowns      correction   n equations
// Cost per fragment: 4 fetches.
// Skeel, "Iterative refinement implies numerical stability for Gaussian elimination" (1980).

#include "lib/tridiagonal.glsl"

uniform sampler2D E;
uniform sampler2D X;
uniform int n;  // equations of a system

layout(location = 0) out vec4 correction;

float unknown(int i) {
    return i < 0 || i >= n ? 0.0 : texelFetch(X, place_of(i), 0).r;
}

void main() {
    int i = own_row();
    vec4 row = equation(E, i, n);
    float term = row.g * unknown(i);
    float rest = row.a - term;
    term = row.r * unknown(i - 1);
    rest -= term;
    term = row.b * unknown(i + 1);
    rest -= term;
    correction = vec4(row.rgb, rest);
}
