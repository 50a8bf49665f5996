// C out of the strips of matmul/panel_broadcast.frag, packed; with COLUMNS 4 out of those of matmul/panel_groups.frag.
//
// A fragment computes one texel of C: two rows of two columns, out of one or two of the strip textures. With MIRROR C is
// symmetric, and what is right of its diagonal is taken from below it.
// C0 ... C3   rows 4t to 4t+3 of each group of 16, a column of C in a texel      start   with ONTO, a matrix to add to
// C0 ... C7   with COLUMNS 4: rows 4 (t % 2) ... of each group of 8, quarter t / 2 of the columns of texels
// Cost per fragment: 2 fetches (3 with ONTO).
// Fetches: 1 + ONTO + (shape_x % 2 + shape_y % 2 == 0) to 2 + ONTO.

#ifndef ONTO
#define ONTO 0  // add to `start` (0, 1)
#endif

#ifndef STRIP
#define STRIP 8  // height of a strip (8, 16)
#endif

#ifndef MIRROR
#define MIRROR 0  // only what is on and below the diagonal was drawn (0, 1)
#endif

#ifndef COLUMNS
#define COLUMNS 1  // columns of C that a fragment computed (1, 4)
#endif
#define FOURS (COLUMNS == 1 ? 4 : 2)  // targets for the rows of a column, four in each

#include "matmul/mirror.glsl"

uniform sampler2D C0;
uniform sampler2D C1;
uniform sampler2D C2;
uniform sampler2D C3;
#if COLUMNS > 1
uniform sampler2D C4;
uniform sampler2D C5;
uniform sampler2D C6;
uniform sampler2D C7;
#endif
#if ONTO
uniform sampler2D start;
#endif
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

vec2 column_pair(int y, int j) {  // rows 2y, 2y+1 of column j
    int group = y / (2 * FOURS);
    ivec2 at = ivec2(j / STRIP, STRIP * group + j % STRIP);
    int part = at.x / textureSize(C0, 0).x;  // 0, where a fragment computed one column
    at.x -= part * textureSize(C0, 0).x;
    int target = FOURS * part + ((y >> 1) & (FOURS - 1));
    vec4 four;
    if (target == 0) four = texelFetch(C0, at, 0);
    else if (target == 1) four = texelFetch(C1, at, 0);
    else if (target == 2) four = texelFetch(C2, at, 0);
    else if (target == 3) four = texelFetch(C3, at, 0);
#if COLUMNS > 1
    else if (target == 4) four = texelFetch(C4, at, 0);
    else if (target == 5) four = texelFetch(C5, at, 0);
    else if (target == 6) four = texelFetch(C6, at, 0);
    else four = texelFetch(C7, at, 0);
#endif
    return (y & 1) == 0 ? four.rg : four.ba;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 source = drawn_texel(texel);
    vec2 left = column_pair(source.y, 2 * source.x);
    vec2 right = 2 * source.x + 1 < shape.y ? column_pair(source.y, 2 * source.x + 1) : vec2(0.0);
    vec4 block = mirrored(vec4(left.x, right.x, left.y, right.y), texel);
#if ONTO
    block += texelFetch(start, texel, 0);
#endif
    result = without_padding(block, texel, shape);
}
