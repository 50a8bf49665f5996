// Where 16 columns are drawn, from the block on their diagonal on, or two texels across of them.

#include "cholesky/chain.glsl"

#ifndef COLUMNS
#define COLUMNS 0  // see cholesky/strip.frag
#endif

void main() {
#if CHAIN
    int count = begin_columns();
    ivec2 across = COLUMNS == 0 ? ivec2(0, count) : ivec2(COLUMNS - 2, 2);
    gl_Position = corner_of(ivec4(corner.x + across.x, corner.y, across.y, size.x - corner.y), ivec4(0));
#else
    gl_Position = triangle_corner();
#endif
}
