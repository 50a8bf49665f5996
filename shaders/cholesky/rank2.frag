// One step of the Cholesky factorisation A = L L^T, two columns of it.
//
//     l00 = sqrt(a00)     l10 = a10 / l00     l11 = sqrt(a11 - l10^2)      the block (k, k) of the step
//     below it            l0 = a0 / l00       l1 = (a1 - l0 l10) / l11     two columns of L are final
//     right of it         a - l_i l_j^T                                    what remains, in its lower half
//
// A fragment computes one 2x2 block of the new matrix; it computes the rows of L that it needs from column k of A anew.
// A   n x n, packed, or a stack of them (STACK): finished columns of L at the left, the lower half of what remains; its upper half is not read
// A pivot that is not above zero (or NaN) is written as it is, with zeros below it: no infinity spreads, and whoever
// reads the diagonal finds the first one.
// Cost per fragment: up to 4 fetches, 16 flop, 6 divisions and 2 roots.
// Fetches: 1 to 4.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, in 2x2 blocks; LAPACK potf2.

#include "lib/packed.glsl"
#include "lib/cholesky.glsl"

uniform sampler2D A;   // before the step
uniform int k;         // texel column of the step
uniform ivec2 shape;   // rows and columns of A

layout(location = 0) out vec4 result;

vec4 column(int y, vec4 pivot) {  // rows 2y and 2y + 1 of the two columns of L
    return divided_rows(texelFetch(A, at(ivec2(k, y)), 0), pivot);
}

void main() {
    ivec2 texel = own_texel();
    result = vec4(0.0);
    if (texel.x > texel.y) return;
    vec4 own = texelFetch(A, at(texel), 0);
    if (texel.x < k) {
        result = own;
        return;
    }
    vec4 pivot = factored(texelFetch(A, at(ivec2(k, k)), 0));
    if (texel.x == k) {
        result = texel.y == k ? pivot : column(texel.y, pivot);
    } else {
        vec4 rows = column(texel.y, pivot);
        vec4 columns = texel.x == texel.y ? rows : column(texel.x, pivot);
        result = less_product(own, rows, columns);
    }
    result = without_padding(result, texel, shape);
}
