// exp, log and the general power, as accurate on every driver as its multiplication: GLSL 3.30 promises nothing for its own.
//
// Argument reduction by ln 2 in two parts, the first of which has few digits, so that k LN2_HIGH is exact:
// Cody and Waite, "Software Manual for the Elementary Functions" (1980), chapters 5 to 7.

#include "lib/exponent.glsl"

const float LN2_HIGH = 0.693359375;      // 355 / 512
const float LN2_LOW = -2.12194440e-4;

// e^a - 1 = p + small, k = 0; in general e^a = 2^k (1 + p): |r| <= ln 2 / 2, the Taylor polynomial of e^r leaves 5e-9.
float reduced_exp(float a, out int k) {
    float whole = floor(a * 1.44269504 + 0.5);
    float r = a - whole * LN2_HIGH;
    r = r - whole * LN2_LOW;
    float tail = 1.0 / 720.0 + r / 5040.0;
    tail = 1.0 / 120.0 + r * tail;
    tail = 1.0 / 24.0 + r * tail;
    tail = 1.0 / 6.0 + r * tail;
    tail = 0.5 + r * tail;
    k = int(whole);
    return r + r * r * tail;
}

// Error: 4 units roundoff.
float exp_of(float a) {
    if (is_nan(a)) return a;
    if (a > 89.0) return INFINITY;
    if (a < -105.0) return 0.0;
    int k;
    float p = reduced_exp(a, k);
    return scaled(1.0 + p, k);
}

// log(1 + f), 1 + f in [sqrt(1/2), sqrt(2)]. With s = f / (2 + f) it is 2 atanh(s) = 2s + s R = f - s (f - R): the
// division's error is multiplied by f. What is subtracted from f is given apart.
float log_deficit(float f) {
    float s = f / (2.0 + f);
    float z = s * s;
    float R = z * (2.0 / 3.0 + z * (2.0 / 5.0 + z * (2.0 / 7.0 + z * (2.0 / 9.0))));
    return s * (f - R);
}

float reduced_log(float f) {
    return f - log_deficit(f);
}

// log a = e ln 2 + log(1 + f). Error: 4 units roundoff.
float log_of(float a) {
    if (is_nan(a)) return a;
    int e = exponent_of(a);
    if (e == NO_EXPONENT) return a == 0.0 ? -INFINITY : (is_negative(a) ? NOT_A_NUMBER : a);
    if (is_negative(a)) return NOT_A_NUMBER;
    float m = scaled(a, -e);
    if (m > 1.41421356) {
        m *= 0.5;
        ++e;
    }
    float f = m - 1.0;
    float small = log_deficit(f) - float(e) * LN2_LOW;
    return float(e) * LN2_HIGH + (f - small);
}
