// I[i, j] = 1 where i = j, else 0.
//
// A fragment computes one 2x2 block of the rows x columns result. No operands. Cost per fragment: none.

#include "lib/packed.glsl"

uniform ivec2 shape;  // rows and columns

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 block = texel.x == texel.y ? vec4(1.0, 0.0, 0.0, 1.0) : vec4(0.0);
    result = without_padding(block, texel, shape);
}
