// [A | I]: what the inverse begins with. I begins in a texel column of its own.
//
// A fragment computes one 2x2 block.
// A   n x n, packed
// Cost per fragment: 1 fetch, or none.
// Fetches: 0 to 1.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.1, which keeps two arrays.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform int left;     // texel column that I begins in
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 block = vec4(0.0);
    if (texel.x < left) {
        block = texelFetch(A, texel, 0);
    } else if (texel.x - left == texel.y) {
        block = vec4(1.0, 0.0, 0.0, 1.0);
    }
    result = without_padding(block, ivec2(texel.x < left ? texel.x : texel.x - left, texel.y), shape);
}
