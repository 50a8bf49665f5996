// [ U 0 ; 0 I ]: a square matrix, and beside it as much of the identity as the shape has room for.
//
// U        packed, of order n
// result   packed, of `shape`
// Cost per fragment: 4 fetches.

#include "lib/packed.glsl"

uniform sampler2D U;
uniform int n;
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

float element(int i, int j) {
    if (max(i, j) < n) return row_pair(U, i, j >> 1)[j & 1];
    return i == j ? 1.0 : 0.0;
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    result = without_padding(BLOCK_OF(element, own), own, shape);
}
