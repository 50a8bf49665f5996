// Columns of L of a panel, in the final order of the rows.
//
// A fragment computes one 2x2 block of the packed factors.
// panel   as plu/blocked/settle_panel.frag has it
// rows    a column of texels for each panel (permutation/trace.frag): where each row of L was after the panel's steps
// Fetches: 5.

#include "lib/packed.glsl"

uniform sampler2D panel;
uniform sampler2D rows;
uniform int column;   // of `rows`: the number of the panel
uniform int top;      // first row of the panel, and its first column
uniform ivec2 shape;  // rows and columns of the matrix

layout(location = 0) out vec4 result;

vec2 entries(int i, int x) {  // of row i in texel column x
    int row = i - top;
    ivec2 texel = ivec2(8 * x + (row >> 2 & 3), row >> 4);
    return vec2(texelFetch(panel, texel, 0)[row & 3], texelFetch(panel, texel + ivec2(4, 0), 0)[row & 3]);
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 source = ivec2(texelFetch(rows, ivec2(column, texel.y), 0).rg);
    int x = texel.x - (top >> 1);
    result = without_padding(vec4(entries(source.x, x), entries(source.y, x)), texel, shape);
}
