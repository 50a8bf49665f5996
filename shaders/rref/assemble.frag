// R = [I X]: the echelon form of a matrix whose leading columns are independent.
//
// A fragment computes one 2x2 block of R, rows x columns.
// X   m x (columns - m), packed; column j of R is column j - m of X
// Fetches: 0 to 4.

#include "lib/packed.glsl"

uniform sampler2D X;
uniform int left;     // first column behind the identity
uniform ivec2 shape;  // rows and columns of R

layout(location = 0) out vec4 result;

float element(int i, int j) {
    if (j >= left) {
        vec2 pair = row_pair(X, i, (j - left) >> 1);
        return ((j - left) & 1) == 0 ? pair.x : pair.y;
    }
    return i == j ? 1.0 : 0.0;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 block = BLOCK_OF(element, texel);
    result = without_padding(block, texel, shape);
}
