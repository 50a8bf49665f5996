// One step of forward or backward substitution, T X = B, two rows of it:
//
//     rows 2t, 2t+1    solved with the 2x2 block on the diagonal
//     rows still open  B[i] - T[i, t] X[t]
//
// An open fragment solves the two rows of its own columns again (4 flop) instead of waiting for another pass.
// A fragment computes one 2x2 block of the right-hand sides.
// T   n x n, packed; only its lower or upper triangle is read, so the packed factors LU serve as both
// B   n x columns, packed: the right-hand sides less the products so far, and the rows of X found so far
// Cost per fragment: 4 fetches, 24 flop, 2 or no divisions.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equation 4.34.

#include "lib/packed.glsl"
#include "lib/block_product.glsl"
#include "triangular/triangle.glsl"

uniform sampler2D B;
uniform int t;        // texel row to solve
uniform ivec2 shape;  // rows and columns of B

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 own = texelFetch(B, texel, 0);
#if UPPER
    bool open = texel.y < t;
#else
    bool open = texel.y > t;
#endif
    if (texel.y == t || open) {
        vec4 X = solved(texelFetch(B, ivec2(texel.x, t), 0), block_of_T(t, t));
        own = open ? subtract_block_product(own, block_of_T(texel.y, t), X) : X;
    }
    result = without_padding(own, texel, shape);
}
