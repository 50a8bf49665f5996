// What is left of A (V x) - U (S x), and of A, in one row: the first half of the certificate of A V = U S.
//
// A fragment computes (r . r, 0, sum of a_ij^2, 0) of row i, r with an entry for each vector x.
// A      packed, of `n` columns
// Y, W   V x and U (S x), by spectral/eigh/applied.frag
// Cost per fragment: 3 fetches and 18 flop per trip, ceil(n / 2) trips; 1 fetch more.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform sampler2D Y;
uniform sampler2D W;
uniform int n;

layout(location = 0) out vec4 result;

void main() {
    int i = own_texel().x;
    vec4 r = -texelFetch(W, at(ivec2(i, 0)), 0);
    float square = 0.0;
    for (int j = 0; j < n; j += 2) {
        vec2 row = row_pair(A, i, j >> 1);
        r += row.x * texelFetch(Y, at(ivec2(j, 0)), 0);
        r += row.y * texelFetch(Y, at(ivec2(min(j + 1, n - 1), 0)), 0);
        square += dot(row, row);
    }
    result = vec4(dot(r, r), 0.0, square, 0.0);
}
