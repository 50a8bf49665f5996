// Where 16 columns are drawn, from the block on their diagonal on.

#include "cholesky/chain.glsl"

void main() {
    int count = begin_columns();
    gl_Position = corner_of(ivec4(corner, count, size.x - corner.y), ivec4(0));
}
