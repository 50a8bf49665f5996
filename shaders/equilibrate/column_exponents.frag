// f_j = floor(log2(max_i |a_ij| 2^-e_i)): the exponents of the columns once the rows are scaled.
//
// A fragment computes the exponents of two columns: (f_2y, f_2y+1, 0, 0); 0 for a column of zeros. They are in a
// column of texels, like those of the rows, because they will scale the rows of a solution.
// MEAN takes the mean of floor(log2(|a_ij| 2^-e_i)) over the column's non-zero entries in place of the largest.
// A   m x n, packed      row_exponents   column of texels (e_2y, e_2y+1, 0, 0), if ROWS; e = 0 without
// Cost per fragment: 1 (ROWS: 2) fetches per trip, ceil(m/2) trips.
// LAPACK geequb; Fulkerson and Wolfe (1962) (geometric mean).

#ifndef ROWS
#define ROWS 1  // rows are scaled already (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/exponent.glsl"
#include "equilibrate/line_exponent.glsl"

uniform sampler2D A;
#if ROWS
uniform sampler2D row_exponents;
#endif
uniform int height;  // texels in a column of A

layout(location = 0) out vec4 exponents;

void main() {
    int x = own_texel().y;
    Line left = NO_LINE;
    Line right = NO_LINE;
    for (int y = 0; y < height; ++y) {
        vec4 block = texelFetch(A, at(ivec2(x, y)), 0);
        vec2 e = vec2(0.0);
#if ROWS
        e = texelFetch(row_exponents, at(ivec2(0, y)), 0).rg;
#endif
        take(left, block.r, e.x);
        take(left, block.b, e.y);
        take(right, block.g, e.x);
        take(right, block.a, e.y);
    }
    exponents = vec4(line_exponent(left), line_exponent(right), 0.0, 0.0);
}
