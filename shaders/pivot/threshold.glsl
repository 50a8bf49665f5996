// The magnitude up to which the rest of a column, after elimination, counts as rounding error.
//
// tolerance.r is absolute. tolerance.g is relative, in unit roundoffs: column j is expanded in the pivot columns
// before it, a_j = sum_i R_ij a_(pivot i) + rest, and the rest is uncertain by the errors of all columns in that sum.
// With columns of magnitude 1 that is eps (1 + sum_i |R_ij|) a few times over; `weight` is sum_i |R_ij|.

float threshold(vec2 tolerance, float weight, float rank) {
    return max(tolerance.r, tolerance.g * (8.0 + sqrt(rank)) * (1.0 + weight));
}
