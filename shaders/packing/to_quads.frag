// From the 2x2 layout to four elements of a column in a texel (4x1), or with ACROSS of a row (1x4).
//
//     quads[y, j] = (M[4y, j], M[4y+1, j], M[4y+2, j], M[4y+3, j])
//     quads[i, x] = (M[i, 4x], M[i, 4x+1], M[i, 4x+2], M[i, 4x+3])
//
// A fragment computes one texel of either. Beyond the matrix it is zero.
// M   packed
// Cost per fragment: 2 fetches.
// Fetches: 2 * (size_x % 2 + size_y % 2 == 0) to 2.
// Moravanszky, "Dense matrix algebra on the GPU" (2003): the 4x1 layout.

#ifndef ACROSS
#define ACROSS 0  // four elements of a column (0), or of a row (1)
#endif

#include "lib/packed.glsl"

uniform sampler2D M;
uniform ivec2 size;  // height and width of M in texels

layout(location = 0) out vec4 quad;

vec4 block(int x, int y) {
    return x < size.y && y < size.x ? texelFetch(M, ivec2(x, y), 0) : vec4(0.0);
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if ACROSS
    quad.rg = half_of(block(2 * texel.x, texel.y >> 1), texel.y);
    quad.ba = half_of(block(2 * texel.x + 1, texel.y >> 1), texel.y);
#else
    vec4 above = block(texel.x >> 1, 2 * texel.y);
    vec4 below = block(texel.x >> 1, 2 * texel.y + 1);
    quad = (texel.x & 1) == 0 ? vec4(above.rb, below.rb) : vec4(above.ga, below.ga);
#endif
}
