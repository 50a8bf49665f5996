// w' = w + sign (c_0 V_0 + c_1 V_1 + ...): up to four vectors of a basis at once.
//
// A fragment computes four elements. With SIGN -1 it takes from w its part along them (Gram and Schmidt).
// w, V0, ...  wrapped        C  a row; with PACKED the coefficients are the channels of texel `first`, else the first
// channels of texels `first`, `first` + 1, ...
// Cost per fragment: 2 COUNT + 1 fetches at most, 8 COUNT flop.
// Fetches: COUNT + 2 to 2 * COUNT + 1.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#ifndef COUNT
#define COUNT 1  // vectors (1, 2, 3, 4)
#endif
#define VECTORS COUNT
#ifndef SIGN
#define SIGN 1.0  // 1.0 or -1.0
#endif
#ifndef PACKED
#define PACKED 0  // four coefficients to a texel (0, 1)
#endif

#include "krylov/vectors.glsl"

uniform sampler2D w;
uniform sampler2D C;
uniform int first;

float coefficient(int k) {
    return k < COUNT ? texelFetch(C, ivec2(first + k, 0), 0).r : 0.0;
}

layout(location = 0) out vec4 w_next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec4 c;
    if (PACKED == 1) c = texelFetch(C, ivec2(first, 0), 0);
    else c = vec4(coefficient(0), coefficient(1), coefficient(2), coefficient(3));
    w_next = texelFetch(w, own, 0);
    w_next += SIGN * c.r * texelFetch(V0, own, 0);
    if (COUNT > 1) w_next += SIGN * c.g * texelFetch(V1, own, 0);
    if (COUNT > 2) w_next += SIGN * c.b * texelFetch(V2, own, 0);
    if (COUNT > 3) w_next += SIGN * c.a * texelFetch(V3, own, 0);
}
