// Functions of one and of two integers of 32 bits, element by element: two's complement, which wraps around as in C.
// Bool is stored as 0 and 1. Division goes by magnitudes without sign, because GLSL 3.30 leaves % of negative numbers open.

const int LEAST = int(0x80000000);

int positive_of(int a) { return a; }
int negative_of(int a) { return -a; }
int absolute_of(int a) { return a < 0 ? -a : a; }
int square_of(int a) { return a * a; }
int floor_of(int a) { return a; }
int ceil_of(int a) { return a; }
int trunc_of(int a) { return a; }
int rint_of(int a) { return a; }
int sign_of(int a) { return a > 0 ? 1 : (a < 0 ? -1 : 0); }
int signbit_of(int a) { return a < 0 ? 1 : 0; }
int isnan_of(int a) { return 0; }
int isinf_of(int a) { return 0; }
int isfinite_of(int a) { return 1; }
int logical_not_of(int a) { return a == 0 ? 1 : 0; }
int bitwise_invert_of(int a) { return ~a; }
float as_float32_of(int a) { return float(a); }
int as_int32_of(int a) { return a; }
int as_bool_of(int a) { return a == 0 ? 0 : 1; }

int add_of(int a, int b) { return a + b; }
int subtract_of(int a, int b) { return a - b; }
int multiply_of(int a, int b) { return a * b; }
int less_of(int a, int b) { return a < b ? 1 : 0; }
int less_equal_of(int a, int b) { return a <= b ? 1 : 0; }
int greater_of(int a, int b) { return a > b ? 1 : 0; }
int greater_equal_of(int a, int b) { return a >= b ? 1 : 0; }
int equal_of(int a, int b) { return a == b ? 1 : 0; }
int not_equal_of(int a, int b) { return a == b ? 0 : 1; }
int maximum_of(int a, int b) { return a > b ? a : b; }
int minimum_of(int a, int b) { return a < b ? a : b; }
int logical_and_of(int a, int b) { return a != 0 && b != 0 ? 1 : 0; }
int logical_or_of(int a, int b) { return a != 0 || b != 0 ? 1 : 0; }
int logical_xor_of(int a, int b) { return (a != 0) != (b != 0) ? 1 : 0; }
int bitwise_and_of(int a, int b) { return a & b; }
int bitwise_or_of(int a, int b) { return a | b; }
int bitwise_xor_of(int a, int b) { return a ^ b; }

// As NumPy's: a shift by 32 or more, or by a negative number, leaves nothing but the sign.
int bitwise_left_shift_of(int a, int b) { return b < 0 || b > 31 ? 0 : a << (b & 31); }
int bitwise_right_shift_of(int a, int b) { return b < 0 || b > 31 ? (a < 0 ? -1 : 0) : a >> (b & 31); }

uint magnitude_of(int a) { return a < 0 ? 0u - uint(a) : uint(a); }

// The quotient rounded down, 0 for b = 0.
int floor_divide_of(int a, int b) {
    if (b == 0) return 0;
    uint divisor = b == 0 ? 1u : magnitude_of(b);  // both branches may be computed
    uint q = magnitude_of(a) / divisor;
    bool rest = magnitude_of(a) != q * divisor;
    if ((a < 0) == (b < 0)) return int(q);
    return int(0u - q) - (rest ? 1 : 0);
}

// Has the sign of b; 0 for b = 0.
int remainder_of(int a, int b) {
    return b == 0 ? 0 : a - floor_divide_of(a, b) * b;
}

// a^b by squaring. A negative power is the quotient of 1 cut off: 0, or that of 1 and -1.
int power_of(int a, int b) {
    if (b < 0) return a == 1 ? 1 : (a == -1 ? ((b & 1) == 1 ? -1 : 1) : 0);
    int result = 1;
    while (b > 0) {
        if ((b & 1) == 1) result *= a;
        a *= a;
        b >>= 1;
    }
    return result;
}
