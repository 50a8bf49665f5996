// Signs with which the largest entry of each column of V, the first among equals, is positive.
//
// A fragment computes those of columns 2x and 2x + 1.
// V   packed, of `height` rows of texels      largest   max |a_ij|: if it is not finite, all is NaN; of a stack a column of texels
// Cost per fragment: `height` fetches, and 2.
// Fetches: height + 2.

#include "lib/exponent.glsl"
#include "lib/ieee.glsl"
#include "lib/packed.glsl"

#if STACK
#include "spectral/jacobi/exponent.glsl"
uniform sampler2D largest;
uniform int texels;  // of `largest`
#define nan_or(x) (is_finite(matrix_largest(largest, texels)) ? (x) : NOT_A_NUMBER)
#else
#include "spectral/eigh/exponent.glsl"
#endif

uniform sampler2D V;
uniform int height;

layout(location = 0) out vec4 signs;

vec2 larger(vec2 found, vec2 entry) {
    return mix(found, entry, greaterThan(abs(entry), abs(found)));
}

void main() {
    vec2 found = vec2(0.0);
    for (int y = 0; y < height; ++y) {
        vec4 block = texelFetch(V, at(ivec2(own_texel().x, y)), 0);
        found = larger(larger(found, block.rg), block.ba);
    }
    signs = vec4(nan_or(found.x < 0.0 ? -1.0 : 1.0), nan_or(found.y < 0.0 ? -1.0 : 1.0), 0.0, 0.0);
}
