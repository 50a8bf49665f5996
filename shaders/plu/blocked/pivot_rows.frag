// Rows that a panel's exchanges have brought to the top, gathered from where they were: the first 32 of 64, or (REST) the
// others less what these contribute.
//
// A fragment computes four rows of one column: texel (j div 8, 8 quad + j mod 8) holds rows top + 4 quad and the next
// three, the layout of matmul/strips.frag.
// S0 ... S3   the matrix before the exchanges, see lib/strips.glsl
// rows        a column of texels for each panel: (source of row 2y, source of row 2y+1, 0, 0)
// U           the first 32 rows of the block row of U, four in a texel (strips/block_row.frag)
// Panel       the lower triangle L, as the first four panels of 16 rows in the layout of matmul/panels.frag
// Cost per fragment: 6 fetches; REST: 8 more, 256 flop.
// Fetches: 6 + 8 * REST.

#ifndef REST
#define REST 0  // the first rows (0) or the others (1)
#endif

#include "lib/strips.glsl"

#if REST
layout(std140) uniform Panel {
    vec4 panel[1024];
};
uniform sampler2D U;
#endif

uniform sampler2D rows;
uniform int column;  // of `rows`: the number of the panel
uniform int top;     // first row of the panel
uniform int height;  // rows of the matrix

layout(location = 0) out vec4 four;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = 8 * texel.x + (texel.y & 7);
    int i = top + 4 * (texel.y >> 3);
    ivec4 source = ivec4(texelFetch(rows, ivec2(column, i >> 1), 0).rg, texelFetch(rows, ivec2(column, (i >> 1) + 1), 0).rg);
    four.r = i < height ? strip_element(source.r, j) : 0.0;
    four.g = i + 1 < height ? strip_element(source.g, j) : 0.0;
    four.b = i + 2 < height ? strip_element(source.b, j) : 0.0;
    four.a = i + 3 < height ? strip_element(source.a, j) : 0.0;
#if REST
    int t = texel.y >> 3;
    int at = 256 * (t >> 2) + (t & 3);  // rows 4t to 4t+3 of the first column of L
    for (int s = 0; s < 8; ++s) {
        vec4 u = texelFetch(U, ivec2(texel.x, 8 * s + (texel.y & 7)), 0);
        four -= panel[at + 16 * s] * u.r;
        four -= panel[at + 16 * s + 4] * u.g;
        four -= panel[at + 16 * s + 8] * u.b;
        four -= panel[at + 16 * s + 12] * u.a;
    }
#endif
}
