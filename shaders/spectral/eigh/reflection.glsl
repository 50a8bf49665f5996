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

flat out vec4 reflection;  // beta, 1 / (alpha - beta), tau / (alpha - beta), (tau^2 / 2) v^T A v

void give_reflection(float alpha, float square, vec3 sums) {  // square: of x below alpha; sums: x . y, y_1, a_1
    Reflector h = reflector(alpha, square);
    float product = (sums.x - 2.0 * h.beta * sums.y + h.beta * h.beta * sums.z) * h.inverse * h.inverse;
    reflection = vec4(h.beta, h.inverse, h.tau * h.inverse, 0.5 * h.tau * h.tau * product);
}
