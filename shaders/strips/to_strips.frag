// The strip layout of a packed matrix, see lib/strips.glsl.
//
// A fragment copies 16 rows of one column into the four textures. Beyond the matrix they are zero.
// A   rows x columns, packed
// Fetches: 0 to 8.

#ifndef REVERSED
#define REVERSED 0  // the last row comes first (0, 1)
#endif

uniform sampler2D A;
uniform ivec2 size;  // height and width of A in texels
#if REVERSED
uniform int last;    // row of texels that comes first
#endif

layout(location = 0) out vec4 rows0;
layout(location = 1) out vec4 rows4;
layout(location = 2) out vec4 rows8;
layout(location = 3) out vec4 rows12;

vec2 column_pair(int y, int j) {  // rows 2y, 2y+1 of column j
#if REVERSED
    y = last - y;
#endif
    if (y >= size.x || (j >> 1) >= size.y) return vec2(0.0);
    vec4 block = texelFetch(A, ivec2(j >> 1, y), 0);
    vec2 pair = (j & 1) == 0 ? block.rb : block.ga;
#if REVERSED
    pair = pair.yx;
#endif
    return pair;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = 8 * texel.x + (texel.y & 7);
    int y = 8 * (texel.y >> 3);
    rows0 = vec4(column_pair(y, j), column_pair(y + 1, j));
    rows4 = vec4(column_pair(y + 2, j), column_pair(y + 3, j));
    rows8 = vec4(column_pair(y + 4, j), column_pair(y + 5, j));
    rows12 = vec4(column_pair(y + 6, j), column_pair(y + 7, j));
}
