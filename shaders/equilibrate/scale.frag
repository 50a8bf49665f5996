// result[i, j] = A[i, j] 2^(s e_i + t f_j), s and t = -1 or 1: rows and columns scaled by powers of two, which rounds nothing.
//
// A fragment computes one 2x2 block.
// A   m x n, packed      row_exponents, column_exponents   columns of texels (e_2y, e_2y+1, 0, 0)
// ROWS, COLUMNS choose which of the two scalings is done. -1 brings the largest entries near 1, 1 undoes it.
// Cost per fragment: 1 to 3 fetches.
// LAPACK laqge.

#ifndef ROWS
#define ROWS 1  // scale the rows (0, 1)
#endif
#ifndef COLUMNS
#define COLUMNS 1  // scale the columns (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/exponent.glsl"

uniform sampler2D A;
#if ROWS
uniform sampler2D row_exponents;
#endif
#if COLUMNS
uniform sampler2D column_exponents;
#endif
uniform ivec2 signs;  // s and t
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    vec4 block = texelFetch(A, at(texel), 0);
    ivec2 e = ivec2(0);
    ivec2 f = ivec2(0);
#if ROWS
    e = ivec2(texelFetch(row_exponents, at(ivec2(0, texel.y)), 0).rg);
#endif
#if COLUMNS
    f = ivec2(texelFetch(column_exponents, at(ivec2(0, texel.x)), 0).rg);
#endif
    e *= signs.x;
    f *= signs.y;
    block.r = scaled(block.r, e.x + f.x);
    block.g = scaled(block.g, e.x + f.y);
    block.b = scaled(block.b, e.y + f.x);
    block.a = scaled(block.a, e.y + f.y);
    result = without_padding(block, texel, shape);
}
