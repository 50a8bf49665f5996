// Exponents of floats, and scaling by powers of two, on the bits: exact, and right for denormals, which arithmetic
// on a GPU would flush to zero.

const int NO_EXPONENT = -1000;  // of zero, infinity and NaN

// floor(log2(|a|))
int exponent_of(float a) {
    int bits = floatBitsToInt(a) & 0x7fffffff;
    if (bits == 0 || bits >= 0x7f800000) return NO_EXPONENT;
    if (bits >= 0x00800000) return (bits >> 23) - 127;
    return (floatBitsToInt(float(bits)) >> 23) - 127 - 149;  // a denormal is bits * 2^-149
}

// a * 2^e. Not by multiplying with powers of two, which a compiler may multiply with each other first, to infinity.
float scaled(float a, int e) {
    int bits = floatBitsToInt(a) & 0x7fffffff;
    if (bits == 0 || bits >= 0x7f800000) return a;  // zero, infinity, NaN
    int sign = floatBitsToInt(a) & 0x80000000;
    if (bits < 0x00800000) {
        bits = floatBitsToInt(float(bits));
        e -= 149;
    }
    int exponent = (bits >> 23) + clamp(e, -1000, 1000);
    int digits = bits & 0x007fffff;
    if (exponent >= 255) return intBitsToFloat(sign | 0x7f800000);
    if (exponent >= 1) return intBitsToFloat(sign | (exponent << 23) | digits);
    return intBitsToFloat(sign | ((0x00800000 | digits) >> min(1 - exponent, 31)));  // a denormal, cut off, or zero
}
