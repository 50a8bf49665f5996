// What is left of V^T (V x) - x and of U^T (U x) - x, in one entry: the second half of the certificate of A V = U S.
//
// A fragment computes (0, o . o, 0, s_j) of column j, o with an entry for each vector x, of both.
// U, V   packed, with `shape` rows      Y, Z   V x and U x, by spectral/eigh/applied.frag      S   a line of texels (s_j, ...)
// Cost per fragment: 2 fetches and 8 flop for each row of both; 1 fetch more.

#include "lib/packed.glsl"
#include "spectral/eigh/random.glsl"

uniform sampler2D U;
uniform sampler2D V;
uniform sampler2D Y;
uniform sampler2D Z;
uniform sampler2D S;
uniform ivec2 shape;  // rows of U and of V
uniform int first;    // place of the first column in the line that is drawn

layout(location = 0) out vec4 result;

float square_left(sampler2D M, sampler2D product, int j, int rows) {
    vec4 o = -random_signs(j);
    for (int i = 0; i < rows; ++i) o += row_pair(M, i, j >> 1)[j & 1] * texelFetch(product, at(ivec2(i, 0)), 0);
    return dot(o, o);
}

void main() {
    int j = own_texel().x - first;
    float squares = square_left(V, Y, j, shape.y);
    squares += square_left(U, Z, j, shape.x);
    result = vec4(0.0, squares, 0.0, texelFetch(S, at(ivec2(j, 0)), 0).r);
}
