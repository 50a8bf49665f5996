// The columns of V in the order of the eigenvalues, with their signs; in a record below a row of the values, scaled back.
//
// V        packed
// L        a line of texels, see `order`
// largest  a column of texels, see `largest`, if RECORD
// certificate  a texel by spectral/eigh/judge.frag, if RECORD: the first value is NaN where it is not accepted
// vectors  packed, of `shape`
// Cost per fragment: 8 fetches; of the values 2 n.

#ifndef RECORD
#define RECORD 0  // the vectors alone (0), or below the eigenvalues (1)
#endif

#include "lib/packed.glsl"
#include "spectral/jacobi/exponent.glsl"

uniform sampler2D V;
uniform sampler2D L;
uniform ivec2 shape;  // rows and columns of the result
uniform int first;    // place in L of its first column
#if RECORD
uniform sampler2D largest;
#include "spectral/eigh/accepted.glsl"
#endif

layout(location = 0) out vec4 vectors;

float element(int i, int j) {
    vec3 l = texelFetch(L, at(ivec2(first + min(j, shape.y - 1), 0)), 0).rgb;
#if RECORD
    if (i == 0 && j == 0 && !accepted()) return NOT_A_NUMBER;
    if (i == 0) return scaled(l.r, matrix_exponent(largest, (shape.y + 1) >> 1));
#endif
    int column = int(l.g);
    return l.b * row_pair(V, i - RECORD, column >> 1)[column & 1];
}

void main() {
    ivec2 own = own_texel();
    vectors = without_padding(BLOCK_OF(element, own), own, shape);
}
