// largest = max |a_ij| of a row of texels of a matrix; of a symmetric one the lower half is read.
//
// A         packed
// largest   a column of texels (largest, 0, 0, 0)
// Cost per fragment: y + 1 fetches, or WIDTH.

#ifndef WIDTH
#define WIDTH 0  // of A in texels, or 0: it is symmetric
#endif

#include "lib/ieee.glsl"
#include "lib/packed.glsl"

uniform sampler2D A;

layout(location = 0) out vec4 largest;

void main() {
    int y = own_texel().y;
    float most = 0.0;
    for (int x = 0; x < (WIDTH == 0 ? y + 1 : WIDTH); ++x) {
        vec4 b = abs(texelFetch(A, at(ivec2(x, y)), 0));
        if (WIDTH == 0 && x == y) b.g = 0.0;
        most = maximum_of(most, maximum_of(maximum_of(b.r, b.g), maximum_of(b.b, b.a)));
    }
    largest = vec4(most, 0.0, 0.0, 0.0);
}
