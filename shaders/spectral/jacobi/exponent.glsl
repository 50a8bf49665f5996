// The exponent of each symmetric matrix of a stack, see `largest`: floor(log2(max |a_ij|)), 0 of zeros.

#include "lib/exponent.glsl"
#include "lib/packed.glsl"

int matrix_exponent(sampler2D largest, int height) {  // of a column of texels
    float most = 0.0;
    for (int y = 0; y < height; ++y) most = max(most, texelFetch(largest, at(ivec2(0, y)), 0).r);
    int e = exponent_of(most);
    return e == NO_EXPONENT ? 0 : e;
}
