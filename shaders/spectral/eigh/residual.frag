// What is left of A V x - V (Lambda x), of V^T (V x) - x, and of A, in one row: the second half of the certificate.
//
// A fragment computes (r . r, o . o, sum of a_ij^2, |lambda_i|) of row i, r and o with an entry for each vector.
// A   n x n, packed      V   n x count, packed: vectors from number `first` on
// Y, W   V x and V (Lambda x), by spectral/eigh/applied.frag      L   texel i = (lambda_i, ...)
// Cost per fragment: 4 fetches and 38 flop per trip, ceil(n/2) trips; 2 fetches more.

#include "spectral/eigh/random.glsl"

uniform sampler2D A;
uniform sampler2D V;
uniform sampler2D Y;
uniform sampler2D W;
uniform sampler2D L;
uniform int n;
uniform int first;
uniform int count;

layout(location = 0) out vec4 result;

void main() {
    int i = int(gl_FragCoord.x);
    vec4 r = -texelFetch(W, ivec2(i, 0), 0), o = -random_signs(i);
    float square = 0.0;
    for (int j = 0; j < n; j += 2) {
        vec4 a = texelFetch(A, ivec2(j >> 1, i >> 1), 0), v = texelFetch(V, ivec2(min(i, count - 1) >> 1, j >> 1), 0);
        vec2 row = (i & 1) == 0 ? a.rg : a.ba, column = (i & 1) == 0 ? v.rb : v.ga;
        vec4 one = texelFetch(Y, ivec2(j, 0), 0), other = texelFetch(Y, ivec2(min(j + 1, n - 1), 0), 0);
        r += row.x * one;
        r += row.y * other;
        o += column.x * one;
        o += column.y * other;
        square += dot(row, row);
    }
    bool there = i < count;  // row i of o
    float value = texelFetch(L, ivec2(first + min(i, count - 1), 0), 0).r;
    result = vec4(dot(r, r), there ? dot(o, o) : 0.0, square, there ? abs(value) : 0.0);
}
