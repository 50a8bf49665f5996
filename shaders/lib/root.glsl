// Roots and quotients that are right to the last bit where the driver's are off by two: one step of Newton's method each.

#include "lib/divide.glsl"

float root(float x) {  // x itself where it is no positive number: whoever reads the diagonal finds it
    if (!(x > 0.0)) return x;
    float s = sqrt(x);
    float rest = x - s * s;
    return x < 1e37 ? s + 0.5 * rest / s : s;
}

// a / l; zero below a pivot that is none.
float below(float a, float l) {
    if (!(l > 0.0)) return 0.0;
    float q = quotient(a, l);
    float rest = a - q * l;
    return q + quotient(rest, l);
}
