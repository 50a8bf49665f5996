// Blocks of rows of a tall matrix as matrices of a stack: matrix i has rows from i height on, and zeros below them.
//
// A fragment copies one texel.
// A   m x n, packed
// Cost per fragment: 1 fetch; below a block's rows none.

#define STACK 1

#include "lib/packed.glsl"

uniform sampler2D A;
uniform int height;  // texels of A that a matrix of the stack takes
uniform int end;     // texels of A in all

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    int y = own_matrix() * height + texel.y;
    bool inside = texel.y < height && y < end;
    result = inside ? texelFetch(A, ivec2(texel.x, y), 0) : vec4(0.0);
}
