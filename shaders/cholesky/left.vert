// Where 16 columns are drawn, from the block on their diagonal on.

#ifndef CHAIN
#define CHAIN 1  // always part of the chain of a panel
#endif
#include "cholesky/chain.glsl"

void main() {
    int count = begin_columns();
    gl_Position = corner_of(ivec4(corner, count, size.x - corner.y), ivec4(0));
}
