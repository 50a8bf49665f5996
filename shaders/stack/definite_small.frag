// A positive definite matrix of order 4 at most in one fragment: factored, substituted and inverted in registers.
//
// A fragment computes four elements of the record of one matrix, and factors it anew for them. Its record:
//
//     L, or X in C order; then l_ii; l_ii again, or x_ii of an inverse
//
// raw      one element per texel: all A (or L), of which the lower half is read, then all B
// records  four elements per texel
// Cost per fragment: (ORDER + 1) ORDER / 2 fetches, and 4 ORDER for a solution; 1/3 ORDER^3 flop, and 8 ORDER^2 for a
// solution or ORDER^3 for an inverse; 10 divisions and 4 roots for the factor.
// LAPACK potf2, potrs, potri; one matrix in the registers of one thread as in pivoted_small.frag.

#ifndef GIVEN
#define GIVEN 0  // matrices come in (0), or their factors (1)
#endif
#ifndef RESULT
#define RESULT 0  // the factor (0), the solution (1), the inverse (2)
#endif

#define RIGHT_SIDES (RESULT == 1)

#include "lib/root.glsl"
#include "stack/small.glsl"

void factor() {
    for (EACH(k)) {
        A[k][k] = root(A[k][k]);
        for (EACH(i)) {
            if (i > k) A[i][k] = below(A[i][k], A[k][k]);
        }
        for (EACH(i)) {
            for (EACH(j)) {
                if (i >= j && j > k) A[i][j] -= A[i][k] * A[j][k];
            }
        }
    }
}

void substitute_forward() {
    for (EACH(i)) {
        for (EACH(j)) {
            if (j < i) X[i] -= A[i][j] * X[j];
        }
        X[i] = divided(X[i], A[i][i]);
    }
}

float upper(int i, int j) {  // of the transpose of L
    return A[j][i];
}

void invert() {  // X = U U^T, where L^T U = I
    for (EACH(i)) {
        X[i] = vec4(0.0);
        X[i][i] = 1.0;
    }
    substitute_back(X);
    vec4 U[ORDER];
    for (EACH(i)) U[i] = X[i];
    for (EACH(i)) {
        for (EACH(j)) {
            X[i][j] = 0.0;
            for (EACH(k)) X[i][j] += U[i][k] * U[j][k];
        }
    }
}

float element(int e, int c) {
    int row = row_of(e);
    float found = 0.0;
    for (EACH(i)) {
        if (RESULT == 1 && row == i) found = X[i][c];
        for (EACH(j)) {
            if (RESULT == 1 || row != i || e - row * ORDER != j) continue;
            found = RESULT == 0 ? A[i][j] : X[max(i, j)][min(i, j)];  // symmetric bit by bit
        }
    }
    return found;
}

float diagnostic(int f) {
    float found = 0.0;
    for (EACH(i)) {
        if (f == i) found = A[i][i];
        if (f == ORDER + i) found = RESULT == 2 ? X[i][i] : A[i][i];
    }
    return found;
}

void main() {
    if (is_spare()) return;
    fetch_matrix(true);
    if (GIVEN == 0) factor();
    if (RESULT == 1) {
        for (EACH(i)) {
            for (int c = 0; c < 4; ++c) X[i][c] = right_side(i, column_of(place + c));
        }
        substitute_forward();
        substitute_back(X);
    }
    if (RESULT == 2) invert();
    put_record();
}
