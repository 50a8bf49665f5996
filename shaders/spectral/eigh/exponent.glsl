// The exponent e of a matrix, by which it is scaled to A 2^-e: floor(log2(max |a_ij|)).
//
// A largest entry of zero may be a denormal that a GPU has flushed: then -126, which brings denormals near 1. Of NaN and
// infinity e is 0, and results are NaN, since comparisons on the way may lose it.

#include "lib/exponent.glsl"
#include "lib/ieee.glsl"

uniform sampler2D largest;  // max |a_ij|, in one texel

int exponent_of_matrix() {
    float most = texelFetch(largest, ivec2(0), 0).r;
    int e = exponent_of(most);
    return most == 0.0 ? -126 : e == NO_EXPONENT ? 0 : e;
}

float nan_or(float x) {  // x, or NaN
    return is_finite(texelFetch(largest, ivec2(0), 0).r) ? x : NOT_A_NUMBER;
}
