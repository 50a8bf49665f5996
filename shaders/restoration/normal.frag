// N = H^T H + balance I, the matrix of the normal equations, without H:
//
//     N[p, q] = sum over pixels i of K[p - i + centre] K[q - i + centre].
//
// Only pixels i inside of the image count, so at its edges N is not the autocorrelation of K. With t = p - i + centre the
// other index is t + q - p: a fragment sums over the t for which both are in K, for 2x2 elements. N[p, q] and N[q, p] are
// the same products in the same order, so N is symmetric bit by bit.
// K   the kernel, packed      N   n x n, packed, n the number of pixels; or ab, diagonals x n
// Cost per fragment: up to 8 fetches and 8 flop for each element of K; none far from the diagonal.
// With BAND its diagonal and those below it are the rows of the result, as LAPACK stores the lower half of a band:
// ab[k, q] = N[q + k, q].
// After "Linear algebra on GPUs: applications in image restoration" (2012), chapter 6, which multiplies H by its transpose.

#ifndef BAND
#define BAND 0  // write the diagonals as rows (0, 1)
#endif

#include "restoration/image.glsl"

uniform float balance;
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

float element(int i, int j) {
    ivec2 p = pixel(i), apart = pixel(j) - p;
    ivec2 from = max(max(ivec2(0), -apart), p + centre - image + 1);
    ivec2 to = min(min(kernel, kernel - apart), p + centre + 1);
    float sum = 0.0;
    for (int row = from.x; row < to.x; ++row)
        for (int column = from.y; column < to.y; ++column) {
            ivec2 t = ivec2(row, column);
            sum += weight(t) * weight(t + apart);
        }
    return i == j ? sum + balance : sum;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y, j = 2 * texel.x;
#if BAND
    int pixels = image.x * image.y;
    vec4 block = vec4(i + j < pixels ? element(i + j, j) : 0.0, i + j + 1 < pixels ? element(i + j + 1, j + 1) : 0.0,
                      i + j + 1 < pixels ? element(i + j + 1, j) : 0.0,
                      i + j + 2 < pixels ? element(i + j + 2, j + 1) : 0.0);
#else
    vec4 block = vec4(element(i, j), element(i, j + 1), element(i + 1, j), element(i + 1, j + 1));
#endif
    result = without_padding(block, texel, shape);
}
