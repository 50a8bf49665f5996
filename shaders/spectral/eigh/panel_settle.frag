// A finished panel in its columns of H: the diagonal, beta below it, and the reflector below that.
//
// A fragment computes one 2x2 block.
// P   see spectral/eigh/panel.glsl; of the last column of all there is x alone
// Cost per fragment: 0 to 2 fetches for each of four elements.

#ifndef P_AT
#define P_AT 0  // column where it begins in one texture, see lib/sheet.glsl
#endif

#include "lib/packed.glsl"

uniform sampler2D P;
uniform int start;
uniform int n;

layout(location = 0) out vec4 result;

vec2 found(int row, int i) {  // v and w of column i
    vec4 pair = texelFetch(P, ivec2(P_AT + (row >> 1), i), 0);
    return (row & 1) == 0 ? pair.rb : pair.ga;
}

float element(int row, int column) {
    if (row < column || row >= n || column >= n) return 0.0;
    vec2 own = found(row == column + 1 ? column : row, column - start);
    return row == column && column + 1 < n ? own.y : own.x;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = BLOCK_OF(element, texel);
}
