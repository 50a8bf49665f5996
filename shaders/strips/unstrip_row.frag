// The block row of U, packed into its place.
//
// A fragment computes one 2x2 block of LU.
// U   64 rows, four in a texel (strips/block_row.frag)
// Fetches: 2.

#ifndef REVERSED
#define REVERSED 0  // the rows of U go upward from row `top` (0, 1)
#endif

#include "lib/packed.glsl"

uniform sampler2D U;
uniform int top;      // row of LU that is row 0 of U
uniform ivec2 shape;  // rows and columns of LU

layout(location = 0) out vec4 result;

vec2 two_rows(int y, int j) {  // rows 2y, 2y+1 of U, column j
    vec4 four = texelFetch(U, ivec2(j >> 3, 8 * (y >> 1) + (j & 7)), 0);
    vec2 pair = (y & 1) == 0 ? four.rg : four.ba;
#if REVERSED
    pair = pair.yx;
#endif
    return pair;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int y = abs(texel.y - (top >> 1));
    vec2 one = two_rows(y, 2 * texel.x);
    vec2 two = two_rows(y, 2 * texel.x + 1);
    result = without_padding(vec4(one.x, two.x, one.y, two.y), texel, shape);
}
