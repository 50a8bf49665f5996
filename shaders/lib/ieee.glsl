// NaN, infinity and division by zero as IEEE 754 has them; GLSL 3.30 leaves them open. Decided on the bits, because a
// compiler may assume that there is no NaN.

#define INFINITY intBitsToFloat(0x7f800000)
#define NOT_A_NUMBER intBitsToFloat(0x7fc00000)

bool is_nan(float a) {
    return (floatBitsToInt(a) & 0x7fffffff) > 0x7f800000;
}

bool is_infinite(float a) {
    return (floatBitsToInt(a) & 0x7fffffff) == 0x7f800000;
}

bool is_finite(float a) {
    return !is_nan(a) && !is_infinite(a);
}

bool is_negative(float a) {  // -0.0 is, and so is a NaN with that sign
    return floatBitsToInt(a) < 0;
}

float with_sign(float magnitude, bool negative) {  // on the bits: some compilers make 0 of a choice between -0 and 0
    return intBitsToFloat(floatBitsToInt(magnitude) ^ (negative ? int(0x80000000) : 0));
}

// NaN if either is, as NumPy has it; GLSL's max and min may drop it.
float maximum_of(float a, float b) {
    return is_nan(a) ? a : (is_nan(b) ? b : max(a, b));
}

float minimum_of(float a, float b) {
    return is_nan(a) ? a : (is_nan(b) ? b : min(a, b));
}
