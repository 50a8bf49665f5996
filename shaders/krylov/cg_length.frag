// alpha = gamma / (p . A p): how far a step of conjugate gradients goes.
//
// One texel. Where the curvature p . A p is not above zero the step has no length, and A is not positive definite.
// sums  partial sums of p . A p        before  (alpha, beta, gamma, r . r)
// K     (alpha, beta, gamma, whether the curvature is above zero)
// Cost per fragment: a fetch for each partial sum, and 1.
// Fetches: 1 + sums_height * sums_width.
// Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), section 3.

#include "krylov/krylov.glsl"

uniform sampler2D sums;
uniform sampler2D before;

layout(location = 0) out vec4 K;

void main() {
    vec4 old = texelFetch(before, ivec2(0), 0);
    float curvature = folded(sums).r;
    float alpha = quotient(old.b, curvature);
    bool sound = is_positive(curvature) && is_finite(alpha);
    K = vec4(sound ? alpha : 0.0, 0.0, old.b, sound ? 1.0 : 0.0);
}
