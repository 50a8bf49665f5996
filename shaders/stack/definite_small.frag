// A positive definite matrix of order 4 at most in one fragment: factored, substituted and inverted in registers.
//
// A fragment computes four elements of the record of one matrix, and factors it anew for them. Records are those of
// unpack.frag, filled up to whole texels:
//
//     L, or X in C order; then l_ii; l_ii again, or x_ii of an inverse
//
// Additions and multiplications are those of the passes of a larger stack, one for one and in their order.
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

#include "lib/root.glsl"
#include "stack/small.glsl"

vec4 L[ORDER];  // rows: what remains of A, then the factor, with zeros above its diagonal

void fetch_lower_half() {
    for (EACH(i)) {
        L[i] = vec4(0.0);
        for (EACH(j)) {
            if (j <= i) L[i][j] = raw_element(matrix * ORDER * ORDER, ORDER * i + j);
        }
    }
}

void factor() {
    for (EACH(k)) {
        L[k][k] = root(L[k][k]);
        for (EACH(i)) {
            if (i > k) L[i][k] = below(L[i][k], L[k][k]);
        }
        for (EACH(i)) {
            for (EACH(j)) {
                if (i >= j && j > k) L[i][j] -= L[i][k] * L[j][k];
            }
        }
    }
}

vec4 divided(vec4 row, float diagonal) {
    for (int c = 0; c < 4; ++c) row[c] = multiplier(row[c], diagonal);
    return row;
}

void substitute_forward() {
    for (EACH(i)) {
        for (EACH(j)) {
            if (j < i) X[i] -= L[i][j] * X[j];
        }
        X[i] = divided(X[i], L[i][i]);
    }
}

void substitute_back() {  // with the transpose of L
    for (EACH(step)) {
        int i = ORDER - 1 - step;
        // Columns by pairs, the last pair first, as the blocks of larger matrices.
        for (int s = 0; s < 4; ++s) {
            int j = s < 2 ? 2 + s : s - 2;
            if (j > i && j < ORDER) X[i] -= L[j][i] * X[j];
        }
        X[i] = divided(X[i], L[i][i]);
    }
}

#if RESULT == 1
uniform int start;  // place of the first element of the first B

void fetch_right_sides() {
    for (int c = 0; c < 4; ++c) {
        int column = column_of(place + c);
        for (EACH(i)) X[i][c] = raw_element(start + matrix * ORDER * extent.y, i * extent.y + column);
    }
}
#else
#define fetch_right_sides()
#endif

void invert() {  // X = U U^T, where L^T U = I
    for (EACH(i)) {
        X[i] = vec4(0.0);
        X[i][i] = 1.0;
    }
    substitute_back();
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
            found = RESULT == 0 ? L[i][j] : X[max(i, j)][min(i, j)];  // symmetric bit by bit
        }
    }
    return found;
}

float figure(int f) {
    float found = 0.0;
    for (EACH(i)) {
        if (f == i) found = L[i][i];
        if (f == ORDER + i) found = RESULT == 2 ? X[i][i] : L[i][i];
    }
    return found;
}

void main() {
    if (is_spare()) return;
    fetch_lower_half();
    if (GIVEN == 0) factor();
    if (RESULT == 1) {
        fetch_right_sides();
        substitute_forward();
        substitute_back();
    }
    if (RESULT == 2) invert();
    put_record();
}
