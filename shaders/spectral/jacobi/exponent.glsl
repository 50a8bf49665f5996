// The exponent of each symmetric matrix of a stack, see `largest`: floor(log2(max |a_ij|)), as spectral/eigh/exponent.glsl has it.

#include "lib/exponent.glsl"
#include "lib/ieee.glsl"
#include "lib/packed.glsl"

float matrix_largest(sampler2D largest, int height) {  // of a column of texels; NaN if it holds some
    float most = 0.0;
    for (int y = 0; y < height; ++y) most = maximum_of(most, texelFetch(largest, at(ivec2(0, y)), 0).r);
    return most;
}

int matrix_exponent(sampler2D largest, int height) {
    float most = matrix_largest(largest, height);
    int e = exponent_of(most);
    return most == 0.0 ? -126 : e == NO_EXPONENT ? 0 : e;
}
