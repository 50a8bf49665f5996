// What GPUs are slow at: divisions of integers, and channels of a texel by number.

// floor(a / b), b > 0, where it is below 2^20. GPUs have no division of integers: in floats it may be one too large or
// too small.
int whole_part(int a, int b) {
    int q = int(float(a) / float(b));
    return q + int(a >= (q + 1) * b) - int(a < q * b);
}

// Channel `number & 3`, by its bits: with a variable index in brackets an H200 took 1.3 times as long for a sparse product
// (experiments/2026-11-23-sell.json), and to sort, with divisions of integers too, 1.7 times (2026-11-23-elements.json).
float channel(vec4 texel, int number) {
    vec2 pair = (number & 2) == 0 ? texel.rg : texel.ba;
    return (number & 1) == 0 ? pair.r : pair.g;
}

int channel(ivec4 texel, int number) {
    ivec2 pair = (number & 2) == 0 ? texel.rg : texel.ba;
    return (number & 1) == 0 ? pair.r : pair.g;
}
