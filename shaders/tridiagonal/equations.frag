// E[i] = 2^-e (a[i, i-1], a[i, i], a[i, i+1], b[i]): bands and right sides become equations, a texel each.
//
// A fragment computes one equation. A row is scaled by the power of two that brings its largest entry to 1 to 2, which
// rounds nothing; where it would lose an entry or the right side to float32's limits the diagonal is NaN, and the check
// at the end refuses the system. Every right side has a system of its own: system s is column s % columns of matrix
// s / columns.
// A, B  bands and right sides, see lib/bands.glsl
// E     an equation per texel
// Cost per fragment: 4 fetches.
// Hockney, "A fast direct solution of Poisson's equation using Fourier analysis" (1965), for what comes after.

#include "lib/tridiagonal.glsl"
#include "lib/exponent.glsl"
#include "lib/bands.glsl"

uniform int systems;   // systems in all; the cells behind the last one are empty
uniform ivec3 bands;   // row of A with the entries below the diagonal, on it, above it; -1 for none
uniform ivec3 shifts;  // which of a row belongs to equation i: i + shift

layout(location = 0) out vec4 equation_i;

float band(int matrix, int row, int j, inout bool lost) {
    if (row < 0) return 0.0;
    lost = lost || corner_is_bad(matrix, row, j);
    return j < 0 || j >= shape.y ? 0.0 : band_entry(matrix, row, j);
}

void main() {
    int i = own_row();
    int system = own_matrix();
    if (system >= systems) {
        equation_i = NO_EQUATION;
        return;
    }
    int matrix = shape.z == 1 ? system : system / shape.z;
    int column = system - matrix * shape.z;
    bool lost = false;
    float lower = band(matrix, bands.x, i + shifts.x, lost);
    float diagonal = band(matrix, bands.y, i + shifts.y, lost);
    float upper = band(matrix, bands.z, i + shifts.z, lost);
    if (i == 0) lower = 0.0;
    if (i == shape.y - 1) upper = 0.0;
    float rhs = right_side(matrix, i, column);
    int e = max(exponent_of(lower), max(exponent_of(diagonal), exponent_of(upper)));
    if (e == NO_EXPONENT) e = 0;
    vec4 row = vec4(scaled(lower, -e), scaled(diagonal, -e), scaled(upper, -e), scaled(rhs, -e));
    lost = lost || is_lost(row.r, lower) || is_lost(row.g, diagonal) || is_lost(row.b, upper) || is_lost(row.a, rhs);
    if (lost) row.g = NOT_A_NUMBER;
    equation_i = row;
}
