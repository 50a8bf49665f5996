// One step of the Doolittle factorisation of a small matrix, whose pivots the vertex stage searches.
//
// A fragment computes one 2x2 block of the new matrix, as in plu/rank2/eliminate.frag.
// Cost per fragment: up to 6 fetches, 16 flop and 4 divisions.
// Fetches: 3 to 6.

#include "plu/doolittle.glsl"

uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = without_padding(reduced(texel), texel, shape);
}
