// H[i, r] = K[r - i + centre], zero where K ends: the system matrix, H f = g, of pixels i and r.
//
// A fragment computes 2x2 elements from the kernel itself: no n x n numbers travel.
// K   the kernel, packed      H   n x n, packed, n the number of pixels
// Cost per fragment: up to 4 fetches; none far from the diagonal.
// "Linear algebra on GPUs: applications in image restoration" (2012), chapter 6.

#include "restoration/image.glsl"

layout(location = 0) out vec4 result;

float element(int i, int r) {
    ivec2 t = pixel(r) - pixel(i) + centre;
    return all(greaterThanEqual(t, ivec2(0))) && all(lessThan(t, kernel)) ? weight(t) : 0.0;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y, r = 2 * texel.x;
    vec4 block = vec4(element(i, r), element(i, r + 1), element(i + 1, r), element(i + 1, r + 1));
    result = without_padding(block, texel, ivec2(image.x * image.y));
}
