// Functions of one and of two floats, element by element, as NumPy and IEEE 754 have them; a comparison gives 1 or 0.

#include "lib/ieee.glsl"
#include "lib/divide.glsl"
#include "lib/exponential.glsl"

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
