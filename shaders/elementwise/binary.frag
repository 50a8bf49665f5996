// A function of two matrices, element by element: result[i, j] = f(A[i, j], B[i, j]).
//
// A fragment computes one 2x2 block. f is one of the functions below (OPERATION); a comparison gives 1 or 0.
// A, B   packed, placed over the result as lib/operand.glsl says: a row, a column or a single element stands for all
// result rows x columns, packed
// Cost per fragment: 2 fetches.

#ifndef OPERATION
#define OPERATION add_of  // name of the function
#endif

#include "lib/packed.glsl"
#include "lib/operand.glsl"
#include "lib/ieee.glsl"
#include "lib/divide.glsl"
#include "lib/exponential.glsl"

uniform sampler2D A;
uniform sampler2D B;
uniform ivec3 A_placement;  // of A over the result
uniform ivec3 B_placement;  // of B
uniform ivec2 shape;        // rows and columns of the result

layout(location = 0) out vec4 result;

float add_of(float a, float b) { return a + b; }
float subtract_of(float a, float b) { return a - b; }
float multiply_of(float a, float b) { return a * b; }

float divide_of(float a, float b) {
    if (b != 0.0) return quotient(a, b);
    return a == 0.0 || is_nan(a) ? NOT_A_NUMBER : with_sign(INFINITY, is_negative(a) != is_negative(b));
}

bool ordered(float a, float b) { return !is_nan(a) && !is_nan(b); }

float less_of(float a, float b) { return ordered(a, b) && a < b ? 1.0 : 0.0; }
float less_equal_of(float a, float b) { return ordered(a, b) && a <= b ? 1.0 : 0.0; }
float greater_of(float a, float b) { return ordered(a, b) && a > b ? 1.0 : 0.0; }
float greater_equal_of(float a, float b) { return ordered(a, b) && a >= b ? 1.0 : 0.0; }
float equal_of(float a, float b) { return ordered(a, b) && a == b ? 1.0 : 0.0; }
float not_equal_of(float a, float b) { return ordered(a, b) && a == b ? 0.0 : 1.0; }

const float MOST = 256.0;  // up to this exponent a power is made of products, and exact where they are

// a^n by squaring, n >= 0: every digit of n in turn.
float product_of(float a, int n) {
    float result = 1.0;
    while (n > 0) {
        if ((n & 1) == 1) result *= a;
        n >>= 1;
        if (n > 0) a *= a;
    }
    return result;
}

// As C's pow: whole exponents know the sign of a, others make NaN of a negative a.
float power_of(float a, float b) {
    if (b == 0.0 || a == 1.0) return 1.0;
    if (!ordered(a, b)) return NOT_A_NUMBER;
    bool whole = is_infinite(b) || floor(b) == b;
    if (whole && abs(b) <= MOST) {
        float power = product_of(a, int(abs(b)));
        return b < 0.0 ? divide_of(1.0, power) : power;
    }
    if (!whole && a < 0.0 && !is_infinite(a)) return NOT_A_NUMBER;
    if (abs(a) == 1.0 && is_infinite(b)) return 1.0;
    bool odd = whole && abs(b) < 16777216.0 && (int(abs(b)) & 1) == 1;  // above 2^24 all are even
    return with_sign(exp_of(b * log_of(abs(a))), odd && is_negative(a));
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 a = block_over(A, texel, A_placement);
    vec4 b = block_over(B, texel, B_placement);
    vec4 block = vec4(OPERATION(a.r, b.r), OPERATION(a.g, b.g), OPERATION(a.b, b.b), OPERATION(a.a, b.a));
    result = without_padding(block, texel, shape);
}
