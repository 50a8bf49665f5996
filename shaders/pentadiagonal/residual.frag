// r - L x[k-1] - D x[k] - U x[k+1]: the right side of a correction.
//
// A fragment computes one pair.
// L, D, U, R   n block rows of each system      X   n pairs      rest   n pairs
// Cost per fragment: 7 fetches.
// Skeel, "Iterative refinement implies numerical stability for Gaussian elimination" (1980).

#include "pentadiagonal/pentadiagonal.glsl"

uniform sampler2D X;
uniform int n;  // block rows of a system

layout(location = 0) out vec2 rest;

vec2 pair(int k) {
    return k < 0 || k >= n ? vec2(0.0) : texelFetch(X, place_of(k), 0).rg;
}

void main() {
    int k = own_row();
    Row row = block_row(k, n);
    rest = row.rhs - applied(row.diagonal, pair(k));
    rest -= applied(row.lower, pair(k - 1));
    rest -= applied(row.upper, pair(k + 1));
}
