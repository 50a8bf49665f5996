// The transpose of a panel of L, in the order in which matmul/panel_broadcast.frag reads its right operand.
//
// Column j of the transpose, which is row j of the panel, is at (j div 8, j mod 8) of a strip; strip s holds its
// elements 4s to 4s+3. A fragment computes one such texel. Beyond the matrix it is zero.
// P   the panel, packed      Cost per fragment: 2 fetches.
// Fetches: 0 to 2.

#include "lib/packed.glsl"

#ifndef P_AT
#define P_AT 0  // column where P begins in one texture, see lib/sheet.glsl
#endif

uniform sampler2D P;
uniform int height;  // of P, in texels

layout(location = 0) out vec4 strip;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = 8 * texel.x + (texel.y & 7);
    int x = P_AT + 2 * (texel.y >> 3);
    strip = (j >> 1) < height ? vec4(row_pair(P, j, x), row_pair(P, j, x + 1)) : vec4(0.0);
}
