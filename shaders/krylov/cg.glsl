// alpha = gamma / (p . A p): how far a step of conjugate gradients goes.

#include "krylov/krylov.glsl"

uniform sampler2D along;  // partial sums of p . A p

// (alpha, 1), or 0 where the curvature p . A p is not above zero: A is not positive definite.
vec2 length_of_step(float gamma) {
    float curvature = folded(along).r;
    float alpha = quotient(gamma, curvature);
    return is_positive(curvature) && is_finite(alpha) ? vec2(alpha, 1.0) : vec2(0.0);
}
