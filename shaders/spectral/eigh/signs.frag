// Signs with which the largest entry of each column of V, the first among equals, is positive.
//
// A fragment computes those of columns 2x and 2x + 1.
// V   packed, of `height` rows of texels      largest   max |a_ij|: if it is not finite, all is NaN
// Cost per fragment: `height` fetches, and 2.
// Fetches: height + 2.

#include "spectral/eigh/exponent.glsl"

uniform sampler2D V;
uniform int height;

layout(location = 0) out vec4 signs;

vec2 larger(vec2 found, vec2 entry) {
    return mix(found, entry, greaterThan(abs(entry), abs(found)));
}

void main() {
    vec2 found = vec2(0.0);
    for (int y = 0; y < height; ++y) {
        vec4 block = texelFetch(V, ivec2(gl_FragCoord.x, y), 0);
        found = larger(larger(found, block.rg), block.ba);
    }
    signs = vec4(nan_or(found.x < 0.0 ? -1.0 : 1.0), nan_or(found.y < 0.0 ? -1.0 : 1.0), 0.0, 0.0);
}
