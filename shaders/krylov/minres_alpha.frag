// alpha = v . (A v - shift v - (beta / beta_old) r1): an entry of the tridiagonal matrix.
//
// One texel.
// sums  partial sums of (v . q, v . r1, v . v), q = A v        K  (beta, beta_old, ...), a texel
// C     (beta / beta_old, alpha / beta, alpha, shift)
// Cost per fragment: a fetch for each partial sum, and 1.
// Fetches: 1 + sums_height * sums_width.
// Paige and Saunders, "Solution of sparse indefinite systems of linear equations" (1975).

#include "krylov/krylov.glsl"

uniform sampler2D sums;
uniform sampler2D K;
uniform float shift;

layout(location = 0) out vec4 C;

void main() {
    vec4 k = texelFetch(K, ivec2(0), 0);
    vec4 s = folded(sums);
    float past = k.g > 0.0 ? quotient(k.r, k.g) : 0.0;
    float alpha = s.r - shift * s.b - past * s.g;
    C = vec4(past, k.r > 0.0 ? quotient(alpha, k.r) : 0.0, alpha, shift);
}
