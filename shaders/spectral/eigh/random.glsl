// Four vectors of +-1, the same ones on every device: entry i of each, by a hash of i on integers.
//
// Jarzynski and Olano, "Hash functions for GPU rendering" (2020): PCG.

vec4 random_signs(int i) {
    uint state = uint(i) * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    word = (word >> 22u) ^ word;
    return 1.0 - 2.0 * vec4(float(word & 1u), float((word >> 8u) & 1u), float((word >> 16u) & 1u), float(word >> 31u));
}
