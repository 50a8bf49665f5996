// v = y / beta: the next Lanczos vector.
//
// A fragment computes four elements.
// y  wrapped        K  (beta, ...), a texel
// Cost per fragment: 2 fetches, 4 flop.
// Fetches: 2.
// Paige and Saunders, "Solution of sparse indefinite systems of linear equations" (1975).

#include "lib/divide.glsl"

uniform sampler2D y;
uniform sampler2D K;

layout(location = 0) out vec4 v;

void main() {
    float beta = texelFetch(K, ivec2(0), 0).r;
    float factor = beta > 0.0 ? quotient(1.0, beta) : 0.0;
    v = factor * texelFetch(y, ivec2(gl_FragCoord.xy), 0);
}
