// e_i = floor(log2(max_j |a_ij|)): scaled by 2^-e_i, the largest entry of each row is in [1, 2).
//
// A fragment computes the exponents of two rows: (e_2y, e_2y+1, 0, 0); 0 for a row of zeros.
// A   m x n, packed
// Cost per fragment: 1 fetch per trip, ceil(n/2) trips.
// LAPACK geequb (powers of the radix, so that scaling rounds nothing).

#include "lib/exponent.glsl"

uniform sampler2D A;
uniform int width;  // texels in a row of A

layout(location = 0) out vec4 exponents;

void main() {
    int y = int(gl_FragCoord.y);
    ivec2 most = ivec2(NO_EXPONENT);
    for (int x = 0; x < width; ++x) {
        vec4 block = texelFetch(A, ivec2(x, y), 0);
        most.x = max(most.x, max(exponent_of(block.r), exponent_of(block.g)));
        most.y = max(most.y, max(exponent_of(block.b), exponent_of(block.a)));
    }
    exponents = vec4(most.x == NO_EXPONENT ? 0 : most.x, most.y == NO_EXPONENT ? 0 : most.y, 0.0, 0.0);
}
