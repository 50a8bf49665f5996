// largest = max |a_ij| of a row of texels of a symmetric matrix, of which the lower half is read.
//
// A         packed
// largest   a column of texels (largest, 0, 0, 0)
// Cost per fragment: y + 1 fetches.

#include "lib/packed.glsl"

uniform sampler2D A;

layout(location = 0) out vec4 largest;

void main() {
    int y = own_texel().y;
    float most = 0.0;
    for (int x = 0; x <= y; ++x) {
        vec4 b = abs(texelFetch(A, at(ivec2(x, y)), 0));
        if (x == y) b.g = 0.0;
        most = max(most, max(max(b.r, b.g), max(b.b, b.a)));
    }
    largest = vec4(most, 0.0, 0.0, 0.0);
}
