// A in the order in which matmul/panel_broadcast.frag reads it: panels of 16 rows and DEPTH columns, one after the other.
//
// Panel number chunk * groups + group holds rows 16 group ... and columns DEPTH chunk ... of A; texel 4 k + t of it holds
// rows 4t to 4t+3 of its column k. A row of texels holds ACROSS panels. A transfer then puts the rows into a buffer.
// A fragment computes one such texel. Beyond the matrix it is zero. With GROUP 8, for matmul/panel_groups.frag, a panel
// has 8 rows and 2 texels a column.
// A   rows x inner, packed; its rows from GROUP first_group on
// Fetches: 0 to 2.

#ifndef DEPTH
#define DEPTH 96  // columns of a panel
#endif
#ifndef GROUP
#define GROUP 16  // rows of a panel (16, 8)
#endif
#ifndef ACROSS
#define ACROSS 1  // panels beside each other, where they are too many for the height of a texture
#endif
#ifndef A_AT
#define A_AT 0  // column where A begins in one texture, see lib/sheet.glsl
#endif

uniform sampler2D A;
uniform int groups;       // groups of GROUP rows
uniform int first_group;  // group that is the first panel
uniform ivec2 size;  // height and width of A in texels

layout(location = 0) out vec4 panel;

vec2 column_pair(int y, int j) {  // rows 2y, 2y+1 of column j
    if (y >= size.x || (j >> 1) >= size.y) return vec2(0.0);
    vec4 block = texelFetch(A, ivec2(A_AT + (j >> 1), y), 0);
    return (j & 1) == 0 ? block.rb : block.ga;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int beside = texel.x / (GROUP / 4 * DEPTH);
    int chunk = (texel.y * ACROSS + beside) / groups;
    int group = texel.y * ACROSS + beside - chunk * groups;
    int column = texel.x / (GROUP / 4);
    int j = chunk * DEPTH + column - beside * DEPTH;
    int y = GROUP / 2 * (first_group + group) + 2 * (texel.x - column * (GROUP / 4));
    panel = vec4(column_pair(y, j), column_pair(y + 1, j));
}
