// e_i = floor(log2(max_j |a_ij| 2^-f_j)): scaled by 2^-(e_i + f_j), the largest entry of each row is in [1, 2).
//
// A fragment computes the exponents of two rows: (e_2y, e_2y+1, 0, 0); 0 for a row of zeros.
// MEAN takes the mean of floor(log2(|a_ij| 2^-f_j)) over the row's non-zero entries in place of the largest.
// A   m x n, packed      column_exponents   column of texels (f_2x, f_2x+1, 0, 0), if COLUMNS; f = 0 without
// Cost per fragment: 1 (COLUMNS: 2) fetches per trip, ceil(n/2) trips.
// LAPACK geequb (powers of the radix, so that scaling rounds nothing); Fulkerson and Wolfe (1962) (geometric mean).

#ifndef COLUMNS
#define COLUMNS 0  // columns are scaled already (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/exponent.glsl"
#include "equilibrate/line_exponent.glsl"

uniform sampler2D A;
#if COLUMNS
uniform sampler2D column_exponents;
#endif
uniform int width;  // texels in a row of A

layout(location = 0) out vec4 exponents;

void main() {
    int y = own_texel().y;
    Line upper = NO_LINE;
    Line lower = NO_LINE;
    for (int x = 0; x < width; ++x) {
        vec4 block = texelFetch(A, at(ivec2(x, y)), 0);
        vec2 f = vec2(0.0);
#if COLUMNS
        f = texelFetch(column_exponents, at(ivec2(0, x)), 0).rg;
#endif
        take(upper, block.r, f.x);
        take(upper, block.g, f.y);
        take(lower, block.b, f.x);
        take(lower, block.a, f.y);
    }
    exponents = vec4(line_exponent(upper), line_exponent(lower), 0.0, 0.0);
}
