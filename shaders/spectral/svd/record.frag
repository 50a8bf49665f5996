// The record of a matrix of a stack: its singular values, below them the rows of U, and below them those of V.
//
// S        a line of texels (s_j, ...)
// U, V     packed        signs  of U's columns, see spectral/eigh/signs.frag; those of V follow
// largest  a column of texels, see spectral/jacobi/largest.frag
// certificate  see spectral/eigh/accepted.glsl: s_0 is NaN where it is not accepted
// result   packed, of `shape`
// Cost per fragment: 4 `height` + 12 fetches at most.

#ifndef VECTORS
#define VECTORS 1  // values and vectors (1), or values alone (0)
#endif

#include "spectral/jacobi/exponent.glsl"

uniform sampler2D S;
uniform sampler2D largest;
uniform int height;     // of `largest`
uniform ivec2 shape;    // rows and columns of the record
uniform ivec4 columns;  // of S, U and V; rows of U
#if VECTORS
#include "spectral/eigh/accepted.glsl"
uniform sampler2D U;
uniform sampler2D V;
uniform sampler2D signs;

float of_vectors(int i, int j) {
    float factor = j < columns.y ? texelFetch(signs, at(ivec2(j >> 1, 0)), 0)[j & 1] : 1.0;
    if (i < columns.w) return j < columns.y ? factor * row_pair(U, i, j >> 1)[j & 1] : 0.0;
    return j < columns.z ? factor * row_pair(V, i - columns.w, j >> 1)[j & 1] : 0.0;
}
#else
#define accepted() true
#define of_vectors(i, j) 0.0
#endif

layout(location = 0) out vec4 result;

float element(int i, int j) {
    if (i > 0) return of_vectors(i - 1, j);
    if (j == 0 && !accepted() || !is_finite(matrix_largest(largest, height))) return NOT_A_NUMBER;
    return j < columns.x ? scaled(texelFetch(S, at(ivec2(j, 0)), 0).r, matrix_exponent(largest, height)) : 0.0;
}

void main() {
    ivec2 own = own_texel();
    result = without_padding(BLOCK_OF(element, own), own, shape);
}
