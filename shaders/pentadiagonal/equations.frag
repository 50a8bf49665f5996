// L, D, U, R: five bands and right sides become block rows, two equations each.
//
//     row 2k      (a[i, i-2], a[i, i-1]) (a[i, i],   a[i, i+1]) (a[i, i+2], 0)           i = 2k
//     row 2k + 1  (0,         a[i, i-2]) (a[i, i-1], a[i, i])   (a[i, i+1], a[i, i+2])   i = 2k + 1
//
// A fragment computes one block row. Equations are scaled as in tridiagonal/equations.frag; behind the last one of an odd
// number has x = 0.
// A, B  bands and right sides, see lib/bands.glsl
// L, D, U, R   a block row per texel
// Cost per fragment: 12 fetches.
// Hockney 1965, for what comes after.

#include "lib/tridiagonal.glsl"
#include "lib/exponent.glsl"
#include "lib/bands.glsl"

uniform int systems;   // systems in all; the cells behind the last one are empty
uniform int above;     // bands above the diagonal: a[i, j] is in row above + i - j

layout(location = 0) out vec4 lower;
layout(location = 1) out vec4 diagonal;
layout(location = 2) out vec4 upper;
layout(location = 3) out vec2 rhs;

float entry(int matrix, int i, int j, inout bool lost) {
    int row = above + i - j;
    if (row < 0 || row >= shape.x) return 0.0;
    lost = lost || corner_is_bad(matrix, row, j);
    return j < 0 || j >= shape.y ? 0.0 : band_entry(matrix, row, j);
}

void row_of(int matrix, int column, int i, out float row[5], out float b) {
    if (i >= shape.y) {
        for (int k = 0; k < 5; ++k) row[k] = k == 2 ? 1.0 : 0.0;
        b = 0.0;
        return;
    }
    int e = NO_EXPONENT;
    bool lost = false;
    for (int k = 0; k < 5; ++k) {
        row[k] = entry(matrix, i, i + k - 2, lost);
        e = max(e, exponent_of(row[k]));
    }
    if (e == NO_EXPONENT) e = 0;
    float given = right_side(matrix, i, column);
    b = scaled(given, -e);
    lost = lost || is_lost(b, given);
    for (int k = 0; k < 5; ++k) {
        float before = row[k];
        row[k] = scaled(before, -e);
        lost = lost || is_lost(row[k], before);
    }
    if (lost) row[2] = NOT_A_NUMBER;
}

void main() {
    int k = own_row();
    int system = own_matrix();
    int matrix = system / shape.z;
    int column = system - matrix * shape.z;
    float first[5];
    float second[5];
    float b;
    float c;
    bool empty = system >= systems;
    row_of(matrix, column, empty ? shape.y : 2 * k, first, b);
    row_of(matrix, column, empty ? shape.y : 2 * k + 1, second, c);
    lower = vec4(first[0], first[1], 0.0, second[0]);
    diagonal = vec4(first[2], first[3], second[1], second[2]);
    upper = vec4(first[4], 0.0, second[3], second[4]);
    rhs = vec2(b, c);
}
