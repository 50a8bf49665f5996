// More functions of floats, element by element, as NumPy and IEEE 754 have them; a truth is an integer, 1 or 0.

#include "lib/functions.glsl"

int signbit_of(float a) { return is_negative(a) ? 1 : 0; }
int truth_of(float a) { return is_nan(a) || a != 0.0 ? 1 : 0; }
int logical_not_of(float a) { return 1 - truth_of(a); }
int logical_and_of(float a, float b) { return truth_of(a) & truth_of(b); }
int logical_or_of(float a, float b) { return truth_of(a) | truth_of(b); }
int logical_xor_of(float a, float b) { return truth_of(a) ^ truth_of(b); }
int as_bool_of(float a) { return truth_of(a); }
float as_float32_of(float a) { return a; }

// Cut off towards zero; -2^31 for NaN, infinity, and whatever does not fit.
int as_int32_of(float a) {
    bool fits = !is_nan(a) && abs(a) < 2147483648.0;
    return fits ? int(fits ? a : 0.0) : int(0x80000000);
}

float reciprocal_of(float a) { return divide_of(1.0, a); }

float copysign_of(float a, float b) {
    return intBitsToFloat((floatBitsToInt(a) & 0x7fffffff) | (floatBitsToInt(b) & int(0x80000000)));
}

// The next float on the way from a to b: the neighbour of its bits.
float nextafter_of(float a, float b) {
    if (!ordered(a, b)) return NOT_A_NUMBER;
    int bits = floatBitsToInt(a);
    int goal = floatBitsToInt(b);
    if (bits == goal || ((bits | goal) & 0x7fffffff) == 0) return b;
    if ((bits & 0x7fffffff) == 0) return intBitsToFloat((goal & int(0x80000000)) | 1);
    int ordered_bits = bits < 0 ? int(0x80000000) - bits : bits;  // in the order of the numbers
    int ordered_goal = goal < 0 ? int(0x80000000) - goal : goal;
    return intBitsToFloat(bits + ((ordered_goal > ordered_bits) == (bits > 0) ? 1 : -1));
}

// sqrt(a^2 + b^2), scaled so that neither square overflows nor underflows. Error: 4 units roundoff.
float hypot_of(float a, float b) {
    if (is_infinite(a) || is_infinite(b)) return INFINITY;
    if (!ordered(a, b)) return NOT_A_NUMBER;
    int e = max(exponent_of(a), exponent_of(b));
    if (e == NO_EXPONENT) return 0.0;
    a = scaled(a, -e);
    b = scaled(b, -e);
    return scaled(sqrt(a * a + b * b), e);
}

// Root of a sum of squares that were scaled by the largest of their elements, a 2^-e and e = floor(log2(largest)).
float scaled_root_of(float total, float largest) {
    int e = exponent_of(largest);
    return e == NO_EXPONENT ? sqrt_of(total) : scaled(sqrt_of(total), e);
}

// The rest of |a| / |b|, exactly: long division of whole numbers, eight bits a step, 33 steps at most.
float rest_of(float a, float b) {
    if (!ordered(a, b) || is_infinite(a)) return NOT_A_NUMBER;
    int a_exponent = exponent_of(a);
    int b_exponent = exponent_of(b);
    if (b_exponent == NO_EXPONENT) return is_infinite(b) ? abs(a) : NOT_A_NUMBER;
    if (a_exponent < b_exponent) return abs(a);
    uint divisor = uint(scaled(abs(b), 23 - b_exponent));
    uint rest = uint(scaled(abs(a), 23 - a_exponent)) % divisor;
    for (int left = a_exponent - b_exponent; left > 0; left -= 8) rest = (rest << min(left, 8)) % divisor;
    return scaled(float(rest), b_exponent - 23);
}

// a - floor(a / b) b, with the sign of b.
float remainder_of(float a, float b) {
    float rest = rest_of(a, b);
    if (is_nan(rest)) return rest;
    if (rest == 0.0) return with_sign(0.0, is_negative(b));
    return is_negative(a) == is_negative(b) ? with_sign(rest, is_negative(b)) : b - with_sign(rest, is_negative(b));
}

float floor_divide_of(float a, float b) {
    if (b == 0.0) return divide_of(a, b);
    float rest = rest_of(a, b);
    if (is_nan(rest)) return rest;
    bool negative = is_negative(a) != is_negative(b);
    // Not "negative ? -1.0 : 0.0": some compilers make of that minus a truth, which is -0 for false.
    if (is_infinite(b)) return with_sign(negative && rest != 0.0 ? 1.0 : 0.0, negative);
    float whole = rint_of(quotient(abs(a) - rest, abs(b)));
    if (negative && rest != 0.0) whole += 1.0;
    return with_sign(whole, negative);
}
