// Inner products of the two columns of a pair, (p . p, q . q, p . q), and the largest cosine of the steps of the sweep before.
//
// A        packed; the first `height` rows of texels count
// before   a line of texels of the step before, but for the FIRST of a sweep
// products a line of texels
// Cost per fragment: `height` fetches, 12 `height` flop.
// Hestenes, "Inversion of matrices by biorthogonalization and related results" (1958).

#ifndef FIRST
#define FIRST 0  // a step of a sweep (0), or its first one (1)
#endif

#include "lib/packed.glsl"

uniform sampler2D A;
uniform int height;
#if FIRST == 0
uniform sampler2D before;
#endif

layout(location = 0) out vec4 products;

void main() {
    int own = own_texel().x;
    products = vec4(0.0);
    for (int y = 0; y < height; ++y) {
        vec4 b = texelFetch(A, at(ivec2(own, y)), 0);
        products.rgb += b.rgr * b.rgg;
        products.rgb += b.bab * b.baa;
    }
#if FIRST == 0
    vec4 old = texelFetch(before, at(ivec2(own, 0)), 0);
    float size = sqrt(old.r) * sqrt(old.g);
    products.a = max(old.a, size > 0.0 ? abs(old.b) / size : 0.0);
#endif
}
