// Where the block on the diagonal is drawn.

#include "cholesky/chain.glsl"

void main() {
#if CHAIN
    int count = begin_columns();
    gl_Position = corner_of(ivec4(0, 0, count, count), ivec4(0));
#else
    gl_Position = triangle_corner();
#endif
}
