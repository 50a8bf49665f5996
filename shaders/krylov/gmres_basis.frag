// v = w / size: the next vector of the basis; zero where there is none.
//
// A fragment computes four elements.
// w  wrapped        size  its norm, a texel
// Cost per fragment: 2 fetches, 4 flop.
// Fetches: 2.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#include "krylov/krylov.glsl"

uniform sampler2D w;
uniform sampler2D size;

layout(location = 0) out vec4 v;

void main() {
    float length = texelFetch(size, ivec2(0), 0).r;
    float factor = is_positive(length) ? quotient(1.0, length) : 0.0;
    v = is_finite(factor) ? factor * texelFetch(w, ivec2(gl_FragCoord.xy), 0) : vec4(0.0);
}
