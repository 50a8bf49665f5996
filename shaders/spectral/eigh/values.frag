// Eigenvalues, scaled back, four to a texel: lambda_i 2^e.
//
// A fragment computes four of them; behind the last one it writes zeros.
// L   texel i = (lambda_i, ...)      largest   max |a_ij|, in one texel, see spectral/eigh/scale.frag
// Cost per fragment: 6 to 9 fetches.
// Fetches: 6 to 9.

#include "spectral/eigh/exponent.glsl"

uniform sampler2D L;
uniform int first;       // number of the first value
uniform int count;
uniform int row_texels;  // texels in a row of the result

layout(location = 0) out vec4 result;

void main() {
    int own = 4 * (int(gl_FragCoord.y) * row_texels + int(gl_FragCoord.x));
    int e = exponent_of_matrix();
    for (int c = 0; c < 4; ++c) {
        float value = texelFetch(L, ivec2(first + min(own + c, count - 1), 0), 0).r;
        result[c] = own + c < count ? nan_or(scaled(value, e)) : 0.0;
    }
}
