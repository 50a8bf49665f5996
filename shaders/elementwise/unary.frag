// A function of a matrix, element by element: result[i, j] = f(A[i, j]).
//
// A fragment computes one 2x2 block. f is one of the functions of lib/functions.glsl (OPERATION); `positive` copies, and so spreads a
// row, a column or a single element over the result, or writes a transpose out.
// A   packed, placed over the result as lib/operand.glsl says      result   rows x columns, packed
// Cost per fragment: 1 fetch.

#ifndef OPERATION
#define OPERATION positive_of  // name of the function
#endif

#include "lib/packed.glsl"
#include "lib/operand.glsl"
#include "lib/functions.glsl"

uniform sampler2D A;
uniform ivec3 placement;  // of A over the result
uniform ivec2 shape;      // rows and columns of the result

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 a = block_over(A, texel, placement);
    vec4 block = vec4(OPERATION(a.r), OPERATION(a.g), OPERATION(a.b), OPERATION(a.a));
    result = without_padding(block, texel, shape);
}
