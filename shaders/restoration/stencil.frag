// y = H x, or y = H^T x + balance v (ADJOINT), of one image as a vector: the product of an iteration, without a matrix.
//
//     (H x)[p] = sum over t of K[t] x[p + t - centre]      (H^T x)[p] = sum over t of K[t] x[p - t + centre]
//
// A fragment computes four pixels.
// K   the kernel, row by row, wrapped      x, v, y   the pixels along the rows, wrapped
// Cost per fragment: 8 fetches and 8 flop for each element of K.
// "Linear algebra on GPUs: applications in image restoration" (2012), chapter 6; matrix-free as in Bolz et al. 2003.

#ifndef ADJOINT
#define ADJOINT 0  // apply the transpose, and add (0, 1)
#endif

#include "lib/wrapped_element.glsl"

uniform sampler2D K;
uniform sampler2D x;
#if ADJOINT
uniform sampler2D v;
uniform float balance;
#endif
uniform ivec2 kernel;  // rows and columns of K
uniform ivec2 centre;
uniform ivec2 image;   // rows and columns
uniform int width;     // texels in a row of y

layout(location = 0) out vec4 y;

float stencil(int i) {
    if (i >= image.x * image.y) return 0.0;
    ivec2 p = ivec2(i / image.y, 0);
    p.y = i - p.x * image.y;
#if ADJOINT
    ivec2 from = max(ivec2(0), p + centre - image + 1), to = min(kernel, p + centre + 1);
    float sum = balance * element_of(v, i);
#else
    ivec2 from = max(ivec2(0), centre - p), to = min(kernel, image - p + centre);
    float sum = 0.0;
#endif
    for (int row = from.x; row < to.x; ++row)
        for (int column = from.y; column < to.y; ++column) {
#if ADJOINT
            ivec2 other = p - ivec2(row, column) + centre;
#else
            ivec2 other = p + ivec2(row, column) - centre;
#endif
            sum += element_of(K, row * kernel.y + column) * element_of(x, other.x * image.y + other.y);
        }
    return sum;
}

void main() {
    int i = 4 * (int(gl_FragCoord.y) * width + int(gl_FragCoord.x));
    y = vec4(stencil(i), stencil(i + 1), stencil(i + 2), stencil(i + 3));
}
