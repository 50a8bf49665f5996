// x = D^-1 (r - L x[k-1] - U x[k+1]) for even block rows; odd ones are those that were kept.
//
// A fragment computes one pair of unknowns. With TOP there is one block row, and nothing was kept.
// L, D, U, R   n block rows of each system
// X            floor(n / 2) pairs of the next level, unless TOP
// x            n pairs
// Cost per fragment: 1 or 6 fetches.
// Hockney 1965; Heller 1976.

#ifndef TOP
#define TOP 0  // one block row (0, 1)
#endif

#include "pentadiagonal/pentadiagonal.glsl"

#if TOP == 0
uniform sampler2D X;
#endif
uniform int n;  // block rows of a system

layout(location = 0) out vec2 x;

void main() {
    int k = own_row();
    Row row = block_row(k, n);
#if TOP == 0
    int kept = k >> 1;
    if ((k & 1) == 1) {
        x = texelFetch(X, place_of(kept), 0).rg;
        return;
    }
    vec2 above = kept > 0 ? texelFetch(X, place_of(kept - 1), 0).rg : vec2(0.0);
    vec2 below = k + 1 < n ? texelFetch(X, place_of(kept), 0).rg : vec2(0.0);
    row.rhs -= applied(row.lower, above);
    row.rhs -= applied(row.upper, below);
#endif
    x = solved(row.diagonal, row.rhs);
}
