// A function of two matrices, element by element: result[i, j] = f(A[i, j], B[i, j]).
//
// A fragment computes one 2x2 block. f is one of the functions of lib/functions.glsl (OPERATION); a comparison gives 1 or 0.
// A, B   packed, placed over the result as lib/operand.glsl says: a row, a column or a single element stands for all
// result rows x columns, packed
// Cost per fragment: 2 fetches.

#ifndef OPERATION
#define OPERATION add_of  // name of the function
#endif

#include "lib/packed.glsl"
#include "lib/operand.glsl"
#include "lib/functions.glsl"

uniform sampler2D A;
uniform sampler2D B;
uniform ivec3 A_placement;  // of A over the result
uniform ivec3 B_placement;  // of B
uniform ivec2 shape;        // rows and columns of the result

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 a = block_over(A, texel, A_placement);
    vec4 b = block_over(B, texel, B_placement);
    vec4 block = vec4(OPERATION(a.r, b.r), OPERATION(a.g, b.g), OPERATION(a.b, b.b), OPERATION(a.a, b.a));
    result = without_padding(block, texel, shape);
}
