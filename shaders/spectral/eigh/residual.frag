// What is left of A V x - V (Lambda x), of V^T (V x) - x, and of A, in one row: the second half of the certificate.
//
// A fragment computes (r . r, o . o, sum of a_ij^2, |lambda_i|) of row i, r and o with an entry for each vector.
// A   n x n, packed, or with TRIDIAGONAL T, a line of texels (diagonal, beside it, 0, 0)
// V   n x count, packed: vectors from number `first` on
// Y, W   V x and V (Lambda x), by spectral/eigh/applied.frag      L   texel i = (lambda_i, ...)
// Cost per fragment: 4 fetches and 38 flop per trip, ceil(n/2) trips; 2 fetches more.

#ifndef TRIDIAGONAL
#define TRIDIAGONAL 0  // A (0), or T (1)
#endif

#include "lib/packed.glsl"
#include "spectral/eigh/random.glsl"

#if TRIDIAGONAL
uniform sampler2D T;
#else
uniform sampler2D A;
#endif
uniform sampler2D V;
uniform sampler2D Y;
uniform sampler2D W;
uniform sampler2D L;
uniform int n;
uniform int first;
uniform int count;

layout(location = 0) out vec4 result;

void main() {
    int i = own_texel().x;
    vec4 r = -texelFetch(W, at(ivec2(i, 0)), 0), o = -random_signs(i);
    float square = 0.0;
    for (int j = 0; j < n; j += 2) {
        vec4 v = texelFetch(V, at(ivec2(min(i, count - 1) >> 1, j >> 1)), 0);
        vec2 column = (i & 1) == 0 ? v.rb : v.ga;
        vec4 one = texelFetch(Y, at(ivec2(j, 0)), 0), other = texelFetch(Y, at(ivec2(min(j + 1, n - 1), 0)), 0);
        o += column.x * one;
        o += column.y * other;
#if TRIDIAGONAL == 0
        vec2 row = row_pair(A, i, j >> 1);
        r += row.x * one;
        r += row.y * other;
        square += dot(row, row);
#endif
    }
#if TRIDIAGONAL
    for (int j = max(i - 1, 0); j <= min(i + 1, n - 1); ++j) {
        vec2 t = texelFetch(T, ivec2(min(i, j), 0), 0).rg;
        float entry = i == j ? t.r : t.g;
        r += entry * texelFetch(Y, ivec2(j, 0), 0);
        square += entry * entry;
    }
#endif
    bool there = i < count;  // row i of o
    float value = texelFetch(L, at(ivec2(first + min(i, count - 1), 0)), 0).r;
    result = vec4(dot(r, r), there ? dot(o, o) : 0.0, square, there ? abs(value) : 0.0);
}
