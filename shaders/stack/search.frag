// Pivot search of step k in every matrix of a stack: (p, q) and the constants of the step, see lib/pivot_search.glsl.
//
// A fragment searches a whole matrix, all matrices in parallel. Its place in the column of texels is k.
// A        stack of matrices of `rows` rows
// pivots   for each matrix a column of texels (p, q, 0, 0)
// block    for each matrix a column of texels (a, b, l, d')
// Cost per fragment: rows - 2k fetches; 7 flop and a division for each row.
// LAPACK getf2.

#define STACK 1

#include "lib/pivot_search.glsl"

uniform sampler2D A;
uniform int rows;

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 block;

void main() {
    ivec2 exchange;
    search_pivots(A, own_texel().y, rows, exchange, block);
    pivots = vec4(exchange, 0.0, 0.0);
}
