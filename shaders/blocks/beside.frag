// [A B]: B to the right of A, also where A has an odd number of columns.
//
// A fragment computes one 2x2 block of the m x (n + k) result.
// A   m x n, packed      B   m x k, packed
// Cost per fragment: up to 4 fetches.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform sampler2D B;
uniform int split;    // n
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

vec2 column(int j, int y) {  // rows 2y and 2y + 1
    vec4 block = j < split ? texelFetch(A, ivec2(j >> 1, y), 0) : texelFetch(B, ivec2((j - split) >> 1, y), 0);
    bool odd = ((j < split ? j : j - split) & 1) == 1;
    return odd ? block.ga : block.rb;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec2 left = column(2 * texel.x, texel.y);
    vec2 right = 2 * texel.x + 1 < shape.y ? column(2 * texel.x + 1, texel.y) : vec2(0.0);
    result = without_padding(vec4(left.x, right.x, left.y, right.y), texel, shape);
}
