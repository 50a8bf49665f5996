// [ I 0 ; 0 Q ]: Q with an identity before it, as large as a panel.
//
// A fragment computes one 2x2 block.
// Q   packed      side   texels of the identity
// Cost per fragment: 1 fetch; in the border none.

#include "lib/packed.glsl"

uniform sampler2D Q;
uniform int side;
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    if (min(texel.x, texel.y) >= side) {
        result = texelFetch(Q, texel - side, 0);
    } else {
        result = texel.x == texel.y ? vec4(1.0, 0.0, 0.0, 1.0) : vec4(0.0);
    }
    result = without_padding(result, texel, shape);
}
