// h = the sum of all partial sums: four inner products, or with ROOT the square root of the first one.
//
// A texel, wherever it is drawn.
// sums  partial sums        h  (h_i, h_(i+1), ...)
// Cost per fragment: a fetch for each partial sum.
// Fetches: sums_height * sums_width.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#ifndef ROOT
#define ROOT 0  // a norm (0, 1)
#endif

#include "krylov/krylov.glsl"

uniform sampler2D sums;

layout(location = 0) out vec4 h;

void main() {
    h = folded(sums);
#if ROOT
    h = vec4(h.r > 0.0 ? sqrt(h.r) : h.r, 0.0, 0.0, 0.0);
#endif
}
