// Householder's reflector H = I - tau v v^T, v_1 = 1, that takes a column (alpha, x) to (beta, 0), as LAPACK's larfg.
//
//     beta = -sign(alpha) norm(alpha, x)     tau = (beta - alpha) / beta     v = (1, x / (alpha - beta))
//
// beta has the sign opposite to alpha's, so that the difference cancels nothing. Columns come scaled, their largest
// entry near 1: an x below 2^-40 is far below their rounding errors, and squares of it would leave float32's range. It
// counts as zero then, and H = I: tau = 0, v = 0 below its first entry, beta = alpha.

#include "lib/root.glsl"

const float NEGLIGIBLE = 8.271806126e-25;  // 2^-80

struct Reflector {
    float beta;
    float tau;
    float inverse;  // 1 / (alpha - beta); 0 where H = I
};

Reflector reflector(float alpha, float square) {  // square: of the norm of x
    if (square <= NEGLIGIBLE) return Reflector(alpha, 0.0, 0.0);
    float size = root(alpha * alpha + square);
    float beta = alpha < 0.0 ? size : -size;
    return Reflector(beta, quotient(beta - alpha, beta), quotient(1.0, alpha - beta));
}
