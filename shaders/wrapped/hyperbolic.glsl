// What is made of exp and log: other bases, exp(a) - 1 and log(1 + a), hyperbolic functions and their inverses.

#include "wrapped/floats.glsl"

// Error: 6 units roundoff.
float expm1_of(float a) {
    if (is_nan(a) || a == 0.0) return a;
    if (a > 89.0) return INFINITY;
    if (a < -25.0) return -1.0;
    int k;
    float p = reduced_exp(a, k);
    if (k == 0) return p;
    return k > 24 ? scaled(1.0 + p, k) : scaled((1.0 - scaled(1.0, -k)) + p, k);
}

// Near 1 the argument of log loses its last digits, which hold all of a. Error: 6 units roundoff.
float log1p_of(float a) {
    if (is_nan(a) || a == 0.0) return a;
    if (a > -0.25 && a < 0.4) return reduced_log(a);
    return log_of(1.0 + a);
}

// log(a / 2^e), with a / 2^e from sqrt(1 / 2) to sqrt(2); log(a), with e = NO_EXPONENT, where that has no sense.
float log_and_exponent(float a, out int e) {
    e = exponent_of(a);
    if (e == NO_EXPONENT || is_negative(a)) {
        e = NO_EXPONENT;
        return log_of(a);
    }
    float m = scaled(a, -e);
    if (m > 1.41421356) {
        m *= 0.5;
        ++e;
    }
    return reduced_log(m - 1.0);
}

// Error of both: 8 units roundoff; log2 is exact for powers of two.
float log2_of(float a) {
    if (is_nan(a)) return a;
    int e;
    float rest = log_and_exponent(a, e);
    return e == NO_EXPONENT ? rest : float(e) + rest * 1.44269504;
}

float log10_of(float a) {
    if (is_nan(a)) return a;
    int e;
    float rest = log_and_exponent(a, e);
    float high = 0.30078125;  // log10(2) in two parts: e times the first is exact
    return e == NO_EXPONENT ? rest : float(e) * high + (float(e) * 2.48745663e-4 + rest * 0.434294482);
}

// log(e^a + e^b). Error: 8 units roundoff of the larger of |a|, |b| and 1.
float logaddexp_of(float a, float b) {
    if (!ordered(a, b)) return NOT_A_NUMBER;
    float larger = max(a, b);
    if (is_infinite(larger)) return larger;
    float smaller = min(a, b);
    return is_infinite(smaller) ? larger : larger + log1p_of(exp_of(smaller - larger));
}

// e^a / 2, where e^a may overflow.
float half_exp(float a) {
    if (a > 91.0) return INFINITY;
    int k;
    float p = reduced_exp(a, k);
    return scaled(1.0 + p, k - 1);
}

// Error of the three: 10 units roundoff.
float sinh_of(float a) {
    if (is_nan(a) || a == 0.0) return a;
    float size = abs(a);
    if (size < 1.0) {
        float t = expm1_of(size);
        return with_sign(0.5 * (t + t / (t + 1.0)), is_negative(a));
    }
    float half_of_it = half_exp(size);
    return with_sign(half_of_it - quotient(0.25, half_of_it), is_negative(a));
}

float cosh_of(float a) {
    if (is_nan(a)) return a;
    float half_of_it = half_exp(abs(a));
    return half_of_it + quotient(0.25, half_of_it);
}

float tanh_of(float a) {
    if (is_nan(a) || a == 0.0) return a;
    float size = abs(a);
    if (size > 10.0) return with_sign(1.0, is_negative(a));
    float t = expm1_of(2.0 * size);
    return with_sign(t / (t + 2.0), is_negative(a));
}

// Error of the three: 12 units roundoff.
float asinh_of(float a) {
    if (is_nan(a) || a == 0.0 || is_infinite(a)) return a;
    float size = abs(a);
    float result = size > 1e9 ? log_of(size) + 0.693147181 : log1p_of(size + size * size / (1.0 + sqrt(1.0 + size * size)));
    return with_sign(result, is_negative(a));
}

float acosh_of(float a) {
    if (is_nan(a) || a < 1.0) return NOT_A_NUMBER;
    if (a > 1e9) return log_of(a) + 0.693147181;
    float t = a - 1.0;
    return log1p_of(t + sqrt(2.0 * t + t * t));
}

float atanh_of(float a) {
    float size = abs(a);
    if (is_nan(a) || size > 1.0) return NOT_A_NUMBER;
    if (a == 0.0) return a;
    if (size == 1.0) return with_sign(INFINITY, is_negative(a));
    return with_sign(0.5 * log1p_of(2.0 * size / (1.0 - size)), is_negative(a));
}
