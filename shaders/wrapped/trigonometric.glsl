// Trigonometric functions and their inverses, as accurate on every driver as its multiplication: GLSL 3.30 promises
// nothing for its own. Polynomials: Moshier, "Methods and Programs for Mathematical Functions" (1989).

#include "wrapped/floats.glsl"

const float HALF_PI = 1.57079633;
const float PI = 3.14159265;
const float HALF_PI_LOW = -4.37113883e-8;  // pi / 2 - HALF_PI
const float PI_LOW = -8.74227766e-8;       // pi - PI

// Bits of 2 / pi, 32 a word; the first word is zero.
const uint TWO_OVER_PI[8] = uint[8](
    0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0u);

// Upper half of a product of 32 bits by 32: GLSL 3.30 has none.
uint upper_product(uint a, uint b) {
    uint a_low = a & 0xffffu;
    uint a_high = a >> 16;
    uint b_low = b & 0xffffu;
    uint b_high = b >> 16;
    uint middle = a_high * b_low + ((a_low * b_low) >> 16);
    uint carried = a_low * b_high + (middle & 0xffffu);
    return a_high * b_high + (middle >> 16) + (carried >> 16);
}

int top_bit(uint a) {  // place of the highest bit that is set; a > 0
    bool long_one = a >= 0x1000000u;
    return (floatBitsToInt(float(long_one ? a >> 8 : a)) >> 23) - (long_one ? 119 : 127);
}

// a = r + quadrant pi / 2, |r| <= pi / 4, for every finite a: the 24 bits of a times the 96 bits of 2 / pi that matter,
// in integers. Payne and Hanek, "Radian reduction for trigonometric functions" (1983). r is right to 2 units roundoff.
float reduced(float a, out int quadrant) {
    quadrant = 0;
    if (abs(a) <= 0.785398163) return a;
    int bits = floatBitsToInt(a);
    uint digits = (uint(bits & 0x007fffff) << 8) | 0x80000000u;
    int e = ((bits >> 23) & 0xff) - 126;
    int word = max(e >> 5, 0);  // below 0 only where a branch is computed and dropped
    int shift = e & 31;
    uint high = TWO_OVER_PI[word];
    uint middle = TWO_OVER_PI[word + 1];
    uint low = TWO_OVER_PI[word + 2];
    if (shift > 0) {
        uint next = TWO_OVER_PI[word + 3];
        high = (high << shift) | (middle >> (32 - shift));
        middle = (middle << shift) | (low >> (32 - shift));
        low = (low << shift) | (next >> (32 - shift));
    }
    uint p_low = digits * middle;  // the product in 64 bits: two for the quadrant, 62 behind the point
    uint p_high = digits * high + upper_product(digits, middle);
    uint carry = upper_product(digits, low);
    p_low += carry;
    if (p_low < carry) p_high += 1u;
    quadrant = int(p_high >> 30);
    p_high &= 0x3fffffffu;
    bool upper = p_high >= 0x20000000u;  // nearer to the next quadrant: 1 - p
    if (upper) {
        ++quadrant;
        p_high = 0x40000000u - p_high - (p_low == 0u ? 0u : 1u);
        p_low = 0u - p_low;
    }
    int e_r = 2;
    if (p_high == 0u) {
        p_high = p_low;
        p_low = 0u;
        e_r -= 32;
    }
    if (p_high == 0u) return 0.0;
    int empty = 31 - top_bit(p_high);
    if (empty > 0) p_high = (p_high << empty) | (p_low >> (32 - empty));
    float r = scaled(float(p_high >> 8) * HALF_PI, e_r - 24 - empty);
    if (a < 0.0) quadrant = -quadrant;
    return with_sign(r, upper != (a < 0.0));
}

float sin_polynomial(float r) {
    if (r == 0.0) return r;  // its sign too
    float z = r * r;
    float tail = 8.3321608736e-3 + z * -1.9515295891e-4;
    tail = -1.6666654611e-1 + z * tail;
    return r + r * z * tail;
}

float cos_polynomial(float r) {
    float z = r * r;
    float tail = -1.388731625493765e-3 + z * 2.443315711809948e-5;
    tail = 4.166664568298827e-2 + z * tail;
    return 1.0 - (0.5 * z - z * z * tail);
}

// sin(a + turns pi / 2)
float sine(float a, int turns) {
    if (is_nan(a) || is_infinite(a)) return NOT_A_NUMBER;
    int quadrant;
    float r = reduced(a, quadrant);
    quadrant += turns;
    float result = (quadrant & 1) == 1 ? cos_polynomial(r) : sin_polynomial(r);
    return (quadrant & 2) == 2 ? -result : result;
}

// Error of both: 4 units roundoff.
float sin_of(float a) { return sine(a, 0); }
float cos_of(float a) { return sine(a, 1); }

// Error: 8 units roundoff.
float tan_of(float a) {
    if (is_nan(a) || is_infinite(a)) return NOT_A_NUMBER;
    int quadrant;
    float r = reduced(a, quadrant);
    if (r == 0.0) return r;
    float z = r * r;
    float tail = 3.11992232697e-3 + z * 9.38540185543e-3;
    tail = 2.44301354525e-2 + z * tail;
    tail = 5.34112807005e-2 + z * tail;
    tail = 1.33387994085e-1 + z * tail;
    tail = 3.33331568548e-1 + z * tail;
    float tangent = r + r * z * tail;
    return (quadrant & 1) == 1 ? -quotient(1.0, tangent) : tangent;
}

// |a| <= 1 / 2
float asin_polynomial(float a) {
    if (a == 0.0) return a;
    float z = a * a;
    float tail = 2.4181311049e-2 + z * 4.2163199048e-2;
    tail = 4.5470025998e-2 + z * tail;
    tail = 7.4953002686e-2 + z * tail;
    tail = 1.6666752422e-1 + z * tail;
    return a + a * z * tail;
}

// Error of both: 8 units roundoff.
float asin_of(float a) {
    float size = abs(a);
    if (is_nan(a) || size > 1.0) return NOT_A_NUMBER;
    if (size <= 0.5) return asin_polynomial(a);
    float half_way = asin_polynomial(sqrt(0.5 * (1.0 - size)));
    return with_sign(HALF_PI - (2.0 * half_way - HALF_PI_LOW), is_negative(a));
}

float acos_of(float a) {
    float size = abs(a);
    if (is_nan(a) || size > 1.0) return NOT_A_NUMBER;
    if (size <= 0.5) return HALF_PI - (asin_polynomial(a) - HALF_PI_LOW);
    float whole = 2.0 * asin_polynomial(sqrt(0.5 * (1.0 - size)));
    return a < 0.0 ? PI - (whole - PI_LOW) : whole;
}

// 0 <= a <= 1
float atan_polynomial(float a) {
    bool upper = a > 0.414213562;  // beyond tan(pi / 8): from pi / 4
    float x = upper ? (a - 1.0) / (a + 1.0) : a;
    float z = x * x;
    float tail = -1.38776856032e-1 + z * 8.05374449538e-2;
    tail = 1.99777106478e-1 + z * tail;
    tail = -3.33329491539e-1 + z * tail;
    float result = x + x * z * tail;
    return upper ? 0.785398163 + (result - 2.18556941e-8) : result;
}

// Error: 8 units roundoff.
float atan_of(float a) {
    if (is_nan(a)) return a;
    float size = abs(a);
    if (size <= 1.0) return with_sign(atan_polynomial(size), is_negative(a));
    return with_sign(HALF_PI - (atan_polynomial(quotient(1.0, size)) - HALF_PI_LOW), is_negative(a));
}

// The angle of the point (b, a). Error: 12 units roundoff.
float atan2_of(float a, float b) {
    if (!ordered(a, b)) return NOT_A_NUMBER;
    float y = abs(a);
    float x = abs(b);
    float angle = y == 0.0 ? 0.0 : HALF_PI;
    if (is_infinite(x) && is_infinite(y)) angle = 0.785398163;
    else if (is_infinite(x)) angle = 0.0;
    else if (x != 0.0 && y != 0.0 && !is_infinite(y)) {
        bool steep = y > x;
        angle = atan_polynomial(steep ? quotient(x, y) : quotient(y, x));
        if (steep) angle = HALF_PI - (angle - HALF_PI_LOW);
    }
    if (is_negative(b)) angle = PI - (angle - PI_LOW);
    return with_sign(angle, is_negative(a));
}
