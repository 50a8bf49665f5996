// Columns in another order, from a row on; divided by their sizes (DIVIDED); or rows in another order (ROWS).
//
// M      packed
// line   a line of texels: `order` for columns, spectral/jacobi/rank.frag for rows
// result packed, of `shape`
// Cost per fragment: 8 fetches.

#ifndef DIVIDED
#define DIVIDED 0  // divide by the sizes (0, 1)
#endif
#ifndef ROWS
#define ROWS 0  // columns (0), or rows (1) are moved
#endif

#include "lib/packed.glsl"
#include "lib/divide.glsl"

uniform sampler2D M;
uniform sampler2D line;
uniform int top;      // first row
uniform ivec2 shape;  // rows and columns of the result

layout(location = 0) out vec4 result;

float element(int i, int j) {
    vec2 moved = texelFetch(line, at(ivec2(min(ROWS == 1 ? i : j, shape.y - 1), 0)), 0).rg;
    int row = ROWS == 1 ? int(moved.g) : i + top;
    int column = ROWS == 1 ? j : int(moved.g);
    float found = row_pair(M, row, column >> 1)[column & 1];
    return DIVIDED == 1 ? multiplier(found, moved.r) : found;
}

void main() {
    ivec2 own = own_texel();
    result = without_padding(BLOCK_OF(element, own), own, shape);
}
