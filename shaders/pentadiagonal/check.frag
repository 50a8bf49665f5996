// (error, left, rhs, x) of `chunk` block rows, see tridiagonal/check.frag, which puts them together.
//
// A fragment looks at `chunk` block rows.
// L, D, U, R   n block rows of each system      X   n pairs      G   what is left of the blocks, one row for a system
// diagnostics      a texel for each chunk
// Cost per fragment: 8 chunk fetches.
// Oettli and Prager, "Compatibility of approximate solution of linear equations" (1964): componentwise backward error.

#include "pentadiagonal/pentadiagonal.glsl"

uniform sampler2D X;
uniform sampler2D G;
uniform int n;      // block rows of a system
uniform int chunk;  // of them for one fragment

layout(location = 0) out vec4 diagnostics;

vec2 pair(int k) {
    return k < 0 || k >= n ? vec2(0.0) : texelFetch(X, place_of(k), 0).rg;
}

float backward(float rest, float size) {
    float error = quotient(abs(rest), size + FLOOR);
    return is_finite(error) ? error : REFUSED;
}

void main() {
    int first = own_row() * chunk;
    int end = min(first + chunk, n);
    vec4 worst = vec4(0.0, texelFetch(G, place_of(0), 0).r, 0.0, 0.0);
    for (int k = first; k < end; ++k) {
        Row row = block_row(k, n);
        vec2 x = pair(k);
        vec2 above = pair(k - 1);
        vec2 below = pair(k + 1);
        vec2 rest = row.rhs - applied(row.diagonal, x);
        rest -= applied(row.lower, above);
        rest -= applied(row.upper, below);
        vec2 size = abs(row.rhs) + applied(abs(row.diagonal), abs(x));
        size += applied(abs(row.lower), abs(above));
        size += applied(abs(row.upper), abs(below));
        float error = max(backward(rest.x, size.x), backward(rest.y, size.y));
        if (!is_finite(x.x) || !is_finite(x.y) || !is_finite(size.x) || !is_finite(size.y)) error = REFUSED;
        worst.r = max(worst.r, error);
        worst.b = max(worst.b, max(abs(row.rhs.x), abs(row.rhs.y)));
        worst.a = max(worst.a, max(abs(x.x), abs(x.y)));
    }
    diagnostics = worst;
}
