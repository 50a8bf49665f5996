// Cyclic reduction of block rows: odd ones stay, and lose their neighbours.
//
//     A = -L D[k-1]^-1, C = -U D[k+1]^-1        L' = A L[k-1], D' = D + A U[k-1] + C L[k+1], U' = C U[k+1],
//                                               r' = r + A r[k-1] + C r[k+1]
//
// A fragment computes one block row of the next level, which has floor(n / 2) of them.
// L, D, U, R   n block rows of each system
// G            what was left of the blocks on the diagonal, unless FIRST
// lower, diagonal, upper, rhs, left   of the next level
// Cost per fragment: 12 fetches; not FIRST 15.
// Hockney 1965; Heller, "Some aspects of the cyclic reduction algorithm for block tridiagonal linear systems" (1976).

#ifndef FIRST
#define FIRST 1  // no level was before (0, 1)
#endif

#include "pentadiagonal/pentadiagonal.glsl"

#if FIRST == 0
uniform sampler2D G;
#endif
uniform int n;  // block rows of a system

layout(location = 0) out vec4 lower;
layout(location = 1) out vec4 diagonal;
layout(location = 2) out vec4 upper;
layout(location = 3) out vec2 rhs;
layout(location = 4) out float left;

float so_far(int k, Row row) {
    if (k >= n) return 1.0;
#if FIRST
    vec4 size = abs(row.lower);
    vec4 beyond = abs(row.upper);
    vec4 own = abs(row.diagonal);
    bool dominant = own.r >= size.r + size.g + own.g + beyond.r + beyond.g;
    dominant = dominant && own.a >= size.b + size.a + own.b + beyond.b + beyond.a;
    return min(dominant ? 1.0 : 0.0625, left_of_block(row.diagonal, own));
#else
    return texelFetch(G, place_of(k), 0).r;
#endif
}

void main() {
    int k = 2 * own_row() + 1;
    Row low = block_row(k - 1, n);
    Row own = block_row(k, n);
    Row high = block_row(k + 1, n);
    vec4 a = -divided(own.lower, low.diagonal);
    vec4 c = -divided(own.upper, high.diagonal);
    lower = product(a, low.lower);
    upper = product(c, high.upper);
    vec4 from_low = product(a, low.upper);
    vec4 from_high = product(c, high.lower);
    diagonal = own.diagonal + from_low;
    diagonal += from_high;
    rhs = own.rhs + applied(a, low.rhs);
    rhs += applied(c, high.rhs);
    float least = least_of(so_far(k, own), least_of(so_far(k - 1, low), so_far(k + 1, high)));
    left = least_of(least, left_of_block(diagonal, abs(own.diagonal) + abs(from_low) + abs(from_high)));
}
