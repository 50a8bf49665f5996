// A in the order in which matmul/panel_broadcast.frag reads it: panels of 16 rows and DEPTH columns, one after the other.
//
// Row of texels y = chunk * groups + group holds the panel of rows 16 group ... and columns DEPTH chunk ...; texel
// x = 4 k + t of it holds rows 4t to 4t+3 of column k of the panel. A transfer then puts the rows of texels into a buffer.
// A fragment computes one such texel. Beyond the matrix it is zero.
// A   rows x inner, packed; its rows from 16 first_group on
// Cost per fragment: 2 fetches.
// Fetches: 0 to 2.

#ifndef DEPTH
#define DEPTH 96  // columns of a panel
#endif

uniform sampler2D A;
uniform int groups;       // groups of 16 rows
uniform int first_group;  // group that is the first panel
uniform ivec2 size;  // height and width of A in texels

layout(location = 0) out vec4 panel;

vec2 column_pair(int y, int j) {  // rows 2y, 2y+1 of column j
    if (y >= size.x || (j >> 1) >= size.y) return vec2(0.0);
    vec4 block = texelFetch(A, ivec2(j >> 1, y), 0);
    return (j & 1) == 0 ? block.rb : block.ga;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int chunk = texel.y / groups;
    int group = texel.y - chunk * groups;
    int j = chunk * DEPTH + (texel.x >> 2);
    int y = 8 * (first_group + group) + 2 * (texel.x & 3);
    panel = vec4(column_pair(y, j), column_pair(y + 1, j));
}
