// For vertex stages: the reflector of column k, computed once for each corner in place of once for each fragment.
//
//     v = x / (alpha - beta), v_1 = 1     w = tau (A x - beta a) / (alpha - beta) - (tau^2 / 2) (v^T A v) v
//
//     v^T A v = (x . y - 2 beta y_1 + beta^2 a_1) / (alpha - beta)^2,   y = A x, a the first column of A
//
// Householder 1958; Golub and Van Loan, "Matrix computations" (2013), section 8.3.1; LAPACK sytd2.

#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "qr/reflector.glsl"
#include "spectral/eigh/column.glsl"

uniform sampler2D A;
uniform sampler2D D;
uniform int height;  // of A, in texels
uniform int terms;   // texels with sums that are added, from the column's own on

flat out vec4 reflection;  // beta, 1 / (alpha - beta), tau / (alpha - beta), (tau^2 / 2) v^T A v

float lower_of(vec2 pair, int i) {  // row i
    return (i & 1) == 0 ? pair.x : pair.y;
}

void reflect_column(int k) {
    int end = min(height, (k >> 1) + terms);
    vec2 sums = vec2(0.0);
    for (int r = k >> 1; r < end; r += AT_ONCE) {
        vec2 found[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) found[i] = texelFetch(D, ivec2(min(r + i, end - 1), 0), 0).ba;
        for (int i = 0; i < AT_ONCE; ++i) sums += r + i < end ? found[i] : vec2(0.0);
    }
    int top = (k + 1) >> 1;
    Reflector h = reflector(lower_of(across(A, k, top), k + 1), sums.y);
    float first = lower_of(across(A, k + 1, top), k + 1);
    float y = lower_of(texelFetch(D, ivec2(top, 0), 0).rg, k + 1);
    float square = (sums.x - 2.0 * h.beta * y + h.beta * h.beta * first) * h.inverse * h.inverse;
    reflection = vec4(h.beta, h.inverse, h.tau * h.inverse, 0.5 * h.tau * h.tau * square);
}
