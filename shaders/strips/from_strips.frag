// Columns of a matrix in the strip layout, packed.
//
// A fragment computes one 2x2 block.
// S0 ... S3   the matrix, see lib/strips.glsl
// Fetches: 2.

#include "lib/packed.glsl"
#include "lib/strips.glsl"

uniform int left;     // column of the matrix that is column 0 of the result
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = left + 2 * texel.x;
    vec2 one = two_rows(texel.y, j);
    vec2 two = two_rows(texel.y, j + 1);
    result = without_padding(vec4(one.x, two.x, one.y, two.y), texel, shape);
}
