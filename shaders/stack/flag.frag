// Matrices of a stack that the host must look at: 1 for each of them, 0 for those that are accepted.
//
// A fragment decides on four matrices. So one number of each is read back; diagnostics are read of those alone that say 1, and
// it is the host that judges these, so limits here are a little narrower than its own.
//
//     SYSTEM 1   u_ii, max |u_ij| of the columns and squares of solutions for random numbers, of A = P L U: growth, small
//                pivots, a large inverse
//                with TURNS u_ii, max |u_ij|, pivots and exponents e_i + f_i, of a determinant: growth; and
//                turns = 2 sum(e_i + f_i) + (1 if an odd number of rows were exchanged)
//     SYSTEM 0   u_ii = l_ii of A = L L^T, and the diagonal of what was made of L: not positive, or not finite
//
// F       wrapped: the diagnostics, LINES lines of `order` for each matrix
// L_A, M_A, L_B, M_B   wrapped: least magnitude but zero, and the largest one, of A, and of the columns' largest of B
// N_A, N_X   wrapped: norms, which must be finite
// result, turns  wrapped
// Cost per fragment: 4 LINES order + 24 fetches.

#ifndef SYSTEM
#define SYSTEM 1  // diagnostics of PLU factors (1), or of Cholesky's (0)
#endif
#ifndef LINES
#define LINES 3  // lines of diagnostics of a matrix
#endif
#ifndef RANGE_A
#define RANGE_A 1  // A must be near 1 (1), or only finite (0)
#endif
#ifndef EQUILIBRATED
#define EQUILIBRATED 1  // entries grew beside 1 (1), or beside the largest of A (0)
#endif
#ifndef RIGHT_SIDES
#define RIGHT_SIDES 1  // there is a B (0, 1)
#endif
#ifndef TURNS
#define TURNS 0  // diagnostics are those of determinants, of which sums are wanted, too (0, 1)
#endif
#ifndef NORMS
#define NORMS 0  // there are norms (0, 1)
#endif

#include "lib/wrapped.glsl"
#include "lib/ieee.glsl"

uniform sampler2D F;
uniform sampler2D M_A;
uniform int order;     // diagnostics in a line
uniform vec4 limits;   // largest growth, least pivot beside its column, largest norm of an inverse, 2^-40

layout(location = 0) out vec4 result;
#if TURNS
layout(location = 1) out vec4 turns;
#endif

bool near_one(float a) { return is_finite(a) && abs(a) >= limits.w && abs(a) * limits.w <= 1.0; }

float diagnostic(int matrix, int line, int j) { return element_of(F, (matrix * LINES + line) * order + j); }

#if RANGE_A
uniform sampler2D L_A;
bool a_is_near_one(int matrix) { return near_one(element_of(L_A, matrix)) && near_one(element_of(M_A, matrix)); }
#else
#define a_is_near_one(matrix) true
#endif

#if RIGHT_SIDES
uniform sampler2D L_B;
uniform sampler2D M_B;
bool b_is_near_one(int matrix) { return near_one(element_of(L_B, matrix)) && near_one(element_of(M_B, matrix)); }
#else
#define b_is_near_one(matrix) true
#endif

#if NORMS
uniform sampler2D N_A;
uniform sampler2D N_X;
bool norms_are_finite(int matrix) { return is_finite(element_of(N_A, matrix)) && is_finite(element_of(N_X, matrix)); }
#else
#define norms_are_finite(matrix) true
#endif

bool plu_accepted(int matrix) {
    float most = 0.0;
    float squares = 0.0;
    for (int j = 0; j < order; ++j) {
        float u = diagnostic(matrix, 0, j);
        float largest = diagnostic(matrix, 1, j);
        if (!is_finite(u) || !is_finite(largest)) return false;
        most = max(most, largest);
        if (TURNS == 0) {
            if (!(abs(u) > limits.y * largest)) return false;
            squares += diagnostic(matrix, 2, j);
        }
    }
    float scale = EQUILIBRATED == 1 ? 1.0 : element_of(M_A, matrix);
    return most <= limits.x * scale && is_finite(squares) && sqrt(squares) * most <= limits.z;
}

bool cholesky_accepted(int matrix) {
    for (int j = 0; j < order; ++j) {
        float l = diagnostic(matrix, 0, j);
        if (!near_one(l) || !(l > 0.0)) return false;
        for (int line = 1; line < LINES; ++line) {
            if (!is_finite(diagnostic(matrix, line, j))) return false;
        }
    }
    return true;
}

bool accepted(int matrix) {
    return a_is_near_one(matrix) && is_finite(element_of(M_A, matrix)) && b_is_near_one(matrix) && norms_are_finite(matrix)
        && (SYSTEM == 1 ? plu_accepted(matrix) : cholesky_accepted(matrix));
}

float turns_of(int matrix) {
    float exponents = 0.0;
    int exchanges = 0;
    for (int j = 0; j < order; ++j) {
        if (int(diagnostic(matrix, 2, j)) != j) ++exchanges;
        exponents += diagnostic(matrix, 3, j);
    }
    return 2.0 * exponents + float(exchanges & 1);
}

void main() {
    result = vec4(0.0);
#if TURNS
    turns = vec4(0.0);
#endif
    if (is_spare()) return;
    ivec4 own = own_elements();
    for (int c = 0; c < own_count(); ++c) {
        result[c] = accepted(own[c]) ? 0.0 : 1.0;
#if TURNS
        turns[c] = turns_of(own[c]);
#endif
    }
}
