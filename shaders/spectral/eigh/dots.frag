// What a step of the tridiagonal form needs of column k: y = A x, x the column below its diagonal.
//
//     (y_2r, y_2r+1, x_2r y_2r + x_2r+1 y_2r+1, x_i^2 of the rows below the first of x)
//
// The product does not wait for the reflector v of x: A v = (A x - beta a) / (alpha - beta), a the first column of A.
// A fragment computes rows 2r and 2r + 1.
// A   n x n, packed: what remains, symmetric, from row and column k + 1 on
// Cost per fragment: 2 fetches and 8 flop per trip, ceil(n/2) trips; 1 fetch more.
// LAPACK sytd2.

#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "spectral/eigh/column.glsl"

uniform sampler2D A;
uniform int height;  // of A, in texels

flat in int k;  // column of the step

layout(location = 0) out vec4 sums;

void main() {
    int r = int(gl_FragCoord.x);
    vec2 x = below(across(A, k, r), r, k), y = vec2(0.0);
    if (2 * r + 1 > k) {
        for (int start = k >> 1; start < height; start += AT_ONCE) {
            vec4 block[AT_ONCE];  // of the transpose
            vec2 other[AT_ONCE];
            for (int i = 0; i < AT_ONCE; ++i) {
                block[i] = texelFetch(A, ivec2(r, min(start + i, height - 1)), 0);
                other[i] = across(A, k, min(start + i, height - 1));
            }
            for (int i = 0; i < AT_ONCE; ++i) {
                if (start + i >= height) break;
                other[i] = below(other[i], start + i, k);
                y += block[i].rg * other[i].x;
                y += block[i].ba * other[i].y;
            }
        }
    }
    vec2 rest = below(x, r, k + 1);
    sums = vec4(y, dot(x, y), dot(rest, rest));
}
