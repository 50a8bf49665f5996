// The columns of packed factors behind the square ones: the right-hand sides of an echelon form's back substitution.
//
// A fragment computes one 2x2 block.
// LU   m x n, packed, m < n      result   m x (n - m)
// Fetches: 4.

#include "lib/packed.glsl"

uniform sampler2D LU;
uniform int left;     // column of LU that is column 0 of the result
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

float element(int i, int j) {
    vec2 pair = row_pair(LU, i, j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y;
    int j = left + 2 * texel.x;
    vec4 block = vec4(element(i, j), element(i, j + 1), element(i + 1, j), element(i + 1, j + 1));
    result = without_padding(block, texel, shape);
}
