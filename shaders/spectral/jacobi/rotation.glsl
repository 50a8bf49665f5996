// The rotation that makes [a h; h d] diagonal, by the smaller of its two angles, and numbers turned by it.

#include "lib/root.glsl"

#ifndef SKIP
#define SKIP 0.0  // an h of at most this times sqrt(a d) is left alone: rounding errors that are turned make new ones
#endif

struct Rotation {
    float s;    // sine
    float tau;  // s / (1 + c)
    float t;    // tangent: the diagonal becomes a - t h and d + t h
};

Rotation rotation(float a, float h, float d) {
    float x = d - a;
    float y = 2.0 * h;
    float size = max(abs(x), abs(y));
    if (!(size > 0.0) || abs(h) <= SKIP * (sqrt(abs(a)) * sqrt(abs(d)))) return Rotation(0.0, 0.0, 0.0);
    x = quotient(x, size);  // so that no square leaves float32's range
    y = quotient(y, size);
    float t = y / (abs(x) + root(x * x + y * y));
    if (x < 0.0) t = -t;
    float c = 1.0 / root(1.0 + t * t);
    float s = t * c;
    return Rotation(s, s / (1.0 + c), t);
}

// c x - s y (parity 0) or s x + c y (1), in Rutishauser's form: the number and a correction as small as the angle.
float turned(float x, float y, Rotation r, int parity) {
    return parity == 0 ? x - r.s * (y + r.tau * x) : y + r.s * (x - r.tau * y);
}

vec2 turned(vec2 x, vec2 y, Rotation r, int parity) {
    return parity == 0 ? x - r.s * (y + r.tau * x) : y + r.s * (x - r.tau * y);
}
