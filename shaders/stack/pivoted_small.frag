// A whole system of order 4 at most in one fragment: scaled, factored with partial pivoting and solved in registers.
//
// A fragment computes four elements of the record of one matrix, and eliminates it anew for them, with the right-hand
// sides of these four and the probes beside it. Its record:
//
//     X in C order, of a solution; then u_ii; max |u_ij| of the columns; squares of solutions for random numbers
//     u_ii; max |u_ij|; pivots; e_i + f_i, with DETERMINANT
//
// raw      one element per texel: all A, then all B
// records  four elements per texel
// Cost per fragment: ORDER^2 fetches, and 4 ORDER if there is a B; 2/3 ORDER^3 + 12 ORDER^2 flop; 16 divisions or fewer.
// LAPACK getf2, geequb; one matrix in the registers of one thread as in Dong et al., "LU factorization of small matrices:
// accelerating batched DGETRF on the GPU" (2014).

#ifndef DETERMINANT
#define DETERMINANT 0  // records of systems (0), or what determinants are made of (1)
#endif
#ifndef IDENTITY
#define IDENTITY 0  // right-hand sides come in (0), or are the identity (1)
#endif
#ifndef EQUILIBRATE
#define EQUILIBRATE 1  // scale rows and columns by powers of two first (0, 1)
#endif

#define RIGHT_SIDES (DETERMINANT == 0 && IDENTITY == 0)

#include "lib/exponent.glsl"
#include "stack/random.glsl"
#include "stack/small.glsl"

int row_exponents[ORDER];
int column_exponents[ORDER];
int pivots[ORDER];
vec4 probe[ORDER];  // two right-hand sides of random numbers

void equilibrate() {
    for (EACH(i)) {
        row_exponents[i] = 0;
        column_exponents[i] = 0;
    }
    if (EQUILIBRATE == 0) return;
    int own[ORDER * ORDER];
    for (EACH(i)) {
        int most = NO_EXPONENT;
        for (EACH(j)) {
            own[ORDER * i + j] = exponent_of(A[i][j]);
            most = max(most, own[ORDER * i + j]);
        }
        if (most != NO_EXPONENT) row_exponents[i] = most;
    }
    for (EACH(j)) {
        int most = 2 * NO_EXPONENT;
        for (EACH(i)) {
            int e = own[ORDER * i + j];
            if (e != NO_EXPONENT) most = max(most, e - row_exponents[i]);
        }
        if (most != 2 * NO_EXPONENT) column_exponents[j] = most;
    }
    for (EACH(i)) {
        for (EACH(j)) A[i][j] = scaled(A[i][j], -(row_exponents[i] + column_exponents[j]));
    }
}

void fetch_right_sides() {
    for (EACH(i)) {
        X[i] = vec4(0.0);
        probe[i] = vec4(random_at(i, 0), random_at(i, 1), 0.0, 0.0);
    }
    if (DETERMINANT == 1) return;
    for (int c = 0; c < 4; ++c) {
        int column = column_of(place + c);
        for (EACH(i)) X[i][c] = scaled(right_side(i, column), -row_exponents[i]);
    }
}

void exchange(int k) {  // bring the pivot up
    int p = k;
    float best = 0.0;
    for (EACH(i)) {
        float entry = abs(A[i][k]);
        if (i >= k && entry > best) {
            best = entry;
            p = i;
        }
    }
    pivots[k] = p;
    vec4 a = A[k];
    vec4 x = X[k];
    vec4 z = probe[k];
    for (EACH(i)) {
        if (i == p) {
            A[k] = A[i];
            X[k] = X[i];
            probe[k] = probe[i];
            A[i] = a;
            X[i] = x;
            probe[i] = z;
        }
    }
}

void eliminate() {
    for (EACH(k)) {
        exchange(k);
        for (EACH(i)) {
            if (i > k) {
                float l = multiplier(A[i][k], A[k][k]);
                for (EACH(j)) {
                    if (j > k) A[i][j] -= l * A[k][j];
                }
                X[i] -= l * X[k];
                probe[i] -= l * probe[k];
            }
        }
    }
}

float upper(int i, int j) {
    return A[i][j];
}

float largest(int j) {
    float most = 0.0;
    for (EACH(i)) {
        if (i <= j) most = max(most, abs(A[i][j]));
    }
    return most;
}

float diagnostic(int f) {
    float found = 0.0;
    for (EACH(i)) {
        if (f == i) found = A[i][i];
        if (f == ORDER + i) found = largest(i);
        if (f == 2 * ORDER + i && DETERMINANT == 1) found = float(pivots[i]);
        if (f == 3 * ORDER + i && DETERMINANT == 1) found = float(row_exponents[i] + column_exponents[i]);
        if (f == 2 * ORDER + i && DETERMINANT == 0) found = probe[i].x * probe[i].x + probe[i].y * probe[i].y;
    }
    return found;
}

float element(int e, int c) {
    int row = row_of(e);
    float found = 0.0;
    for (EACH(i)) {
        if (row == i) found = scaled(X[i][c], -column_exponents[i]);
    }
    return found;
}

void main() {
    if (is_spare()) return;
    fetch_matrix(false);
    equilibrate();
    fetch_right_sides();
    eliminate();
    if (DETERMINANT == 0) {
        substitute_back(X);
        substitute_back(probe);
    }
    put_record();
}
