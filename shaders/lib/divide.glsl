// a / b, also where a GPU's division stumbles.
//
// Many GPUs divide by multiplying with the reciprocal, and flush denormals to zero: above 2^126 the reciprocal of b
// is a denormal, so a / b would be 0. Scaling both by a power of two avoids that, and is exact.

float quotient(float a, float b) {
    float scale = abs(b) > 8.507059173e37 ? 0.0625 : 1.0;  // 2^126
    return (a * scale) / (b * scale);
}

// A pivot of zero has only zeros below it, so its multipliers are zero (as in LAPACK).
float multiplier(float a, float pivot) {
    return pivot == 0.0 ? 0.0 : quotient(a, pivot);
}
