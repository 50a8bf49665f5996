// Matrices of a stack on the device, solved with triangles, that the host must look at: 1 for each, 0 for those that
// are accepted.
//
// A fragment decides on four matrices. So one number of each is read back; diagnostics are read of those alone that say 1, and
// it is the host that judges these. Magnitudes are compared as the bits that they are, which tells denormals and NaN.
//
//     FACTORS 0  T X = B: a row of T, or a column of B or X, that is tiny; an entry of T that is no normal number; a
//                pivot that is none
//     FACTORS 1  L U X = B: entries of U, or the largest of B's columns, that are far from 1; a pivot that is zero
//     and what is not finite
//
// whole   wrapped: largest magnitude of T, or of the factors
// least, most   wrapped: of the triangle the least magnitude but zero; of U, the same, and the largest one
// row, diagonal  wrapped: the least of the rows' largest magnitudes; the least on the diagonal
// columns_B, columns_X   wrapped: largest magnitudes of the columns, `columns` for each matrix
// least_B, most_B, most_X  wrapped: extremes of them
// result  wrapped
// Cost per fragment: 4 (2 columns + 4) fetches, or 28.

#ifndef FACTORS
#define FACTORS 0  // one triangle (0), or packed factors (1)
#endif
#ifndef UNIT
#define UNIT 0  // the diagonal is one of ones, which is not read (0, 1)
#endif

#include "lib/wrapped.glsl"

uniform sampler2D whole;
uniform sampler2D least;
#if UNIT == 0
uniform sampler2D diagonal;
#endif
#if FACTORS
uniform sampler2D most;
uniform sampler2D least_B;
uniform sampler2D most_B;
uniform sampler2D most_X;
#else
#if UNIT == 0
uniform sampler2D row;
#endif
uniform sampler2D columns_B;
uniform sampler2D columns_X;
uniform int columns;  // of B
#endif
uniform vec2 limits;  // FACTORS 0: what is tiny, the least normal number; 1: the least and the largest near 1

layout(location = 0) out vec4 result;

int bits(float magnitude) { return floatBitsToInt(magnitude) & 0x7fffffff; }

bool finite(int a) { return a < 0x7f800000; }

int of(sampler2D diagnostics, int place) { return bits(element_of(diagnostics, place)); }

#if FACTORS
bool near_one(int a) { return a == 0 || !finite(a) || (a >= bits(limits.x) && a <= bits(limits.y)); }

bool accepted(int matrix) {
    if (!finite(of(whole, matrix)) || !finite(of(most_B, matrix)) || !finite(of(most_X, matrix))) return false;
    return of(diagonal, matrix) != 0 && near_one(of(diagonal, matrix)) && near_one(of(least, matrix))
        && near_one(of(most, matrix)) && near_one(of(least_B, matrix)) && near_one(of(most_B, matrix));
}
#else
bool accepted(int matrix) {
    int tiny = bits(limits.x);
    int normal = bits(limits.y);
    if (!finite(of(whole, matrix))) return false;
#if UNIT == 0
    if (of(row, matrix) < tiny || of(diagonal, matrix) < normal) return false;
#endif
    bool large = false;
    for (int j = matrix * columns; j < (matrix + 1) * columns; ++j) {
        int b = of(columns_B, j);
        int x = of(columns_X, j);
        if (!finite(b) || !finite(x) || (b > 0 && (b < tiny || x < tiny))) return false;
        if (x > bits(1.0)) large = true;
    }
    return !(large && of(least, matrix) < normal);
}
#endif

void main() {
    result = vec4(0.0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    for (int c = 0; c < own_count(); ++c) result[c] = accepted(own[c]) ? 0.0 : 1.0;
}
