// A function of a matrix, element by element: result[i, j] = f(A[i, j]).
//
// A fragment computes one 2x2 block. f is one of the functions below (OPERATION); `positive` copies, and so spreads a
// row, a column or a single element over the result, or writes a transpose out.
// A   packed, placed over the result as lib/operand.glsl says      result   rows x columns, packed
// Cost per fragment: 1 fetch.

#ifndef OPERATION
#define OPERATION positive_of  // name of the function
#endif

#include "lib/packed.glsl"
#include "lib/operand.glsl"
#include "lib/ieee.glsl"
#include "lib/exponential.glsl"

uniform sampler2D A;
uniform ivec3 placement;  // of A over the result
uniform ivec2 shape;      // rows and columns of the result

layout(location = 0) out vec4 result;

float positive_of(float a) { return a; }
float negative_of(float a) { return -a; }
float absolute_of(float a) { return abs(a); }
float square_of(float a) { return a * a; }
float floor_of(float a) { return floor(a); }
float ceil_of(float a) { return ceil(a); }
float trunc_of(float a) { return trunc(a); }
float rint_of(float a) { return roundEven(a); }
float sign_of(float a) { return is_nan(a) ? a : sign(a); }
float isnan_of(float a) { return is_nan(a) ? 1.0 : 0.0; }
float isinf_of(float a) { return is_infinite(a) ? 1.0 : 0.0; }
float isfinite_of(float a) { return is_nan(a) || is_infinite(a) ? 0.0 : 1.0; }

float sqrt_of(float a) {
    if (is_nan(a) || a == 0.0) return a;
    if (a < 0.0) return NOT_A_NUMBER;
    return is_infinite(a) ? a : sqrt(a);
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 a = block_over(A, texel, placement);
    vec4 block = vec4(OPERATION(a.r), OPERATION(a.g), OPERATION(a.b), OPERATION(a.a));
    result = without_padding(block, texel, shape);
}
