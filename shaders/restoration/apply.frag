// B = H F, or H^T F (ADJOINT): every column of F is an image, pixel by pixel along its rows. No matrix is made.
//
//     (H f)[p] = sum over t of K[t] f[p + t - centre]      (H^T f)[p] = sum over t of K[t] f[p - t + centre]
//
// A fragment computes two pixels of two columns.
// K   the kernel, packed      F, B   pixels x columns, packed
// Cost per fragment: 4 fetches and 8 flop for each element of K.
// "Linear algebra on GPUs: applications in image restoration" (2012), chapter 6.

#ifndef ADJOINT
#define ADJOINT 0  // apply the transpose (0, 1)
#endif

#include "restoration/image.glsl"

uniform sampler2D F;
uniform ivec2 shape;  // rows and columns of B

layout(location = 0) out vec4 result;

vec2 applied(int i) {
    ivec2 p = pixel(i);
#if ADJOINT
    ivec2 from = max(ivec2(0), p + centre - image + 1), to = min(kernel, p + centre + 1);
#else
    ivec2 from = max(ivec2(0), centre - p), to = min(kernel, image - p + centre);
#endif
    vec2 sum = vec2(0.0);
    for (int row = from.x; row < to.x; ++row)
        for (int column = from.y; column < to.y; ++column) {
            ivec2 t = ivec2(row, column);
#if ADJOINT
            ivec2 other = p - t + centre;
#else
            ivec2 other = p + t - centre;
#endif
            sum += weight(t) * row_pair(F, other.x * image.y + other.y, int(gl_FragCoord.x));
        }
    return sum;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 block = vec4(applied(2 * texel.y), 2 * texel.y + 1 < shape.x ? applied(2 * texel.y + 1) : vec2(0.0));
    result = without_padding(block, texel, shape);
}
