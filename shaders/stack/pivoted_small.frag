// A whole system of order 4 at most in one fragment: scaled, factored with partial pivoting and solved in registers.
//
// A fragment computes four elements of the record of one matrix, and eliminates it anew for them, with the right-hand
// sides of these four and the probes beside it. Records are those of unpack.frag, filled up to whole texels:
//
//     X in C order, of a solution; then u_ii; max |u_ij| of the columns; squares of solutions for random numbers
//     u_ii; max |u_ij|; pivots; e_i + f_i, with DETERMINANT
//
// Additions and multiplications are those of the passes of a larger stack, one for one and in their order.
// raw      one element per texel: all A, then all B
// records  four elements per texel
// Cost per fragment: ORDER^2 fetches, and 4 ORDER if there is a B; 2/3 ORDER^3 + 12 ORDER^2 flop; 16 divisions or fewer.
// LAPACK getf2, geequb; one matrix in the registers of one thread as in Dong et al., "LU factorization of small matrices:
// accelerating batched DGETRF on the GPU" (2014).

#ifndef ORDER
#define ORDER 3  // rows and columns of A (1 to 4)
#endif
#if ORDER < 1 || ORDER > 4
#error ORDER must be 1 to 4
#endif
#ifndef DETERMINANT
#define DETERMINANT 0  // records of systems (0), or what determinants are made of (1)
#endif
#ifndef IDENTITY
#define IDENTITY 0  // right-hand sides come in (0), or are the identity (1)
#endif
#ifndef EQUILIBRATE
#define EQUILIBRATE 1  // scale rows and columns by powers of two first (0, 1)
#endif

#include "lib/divide.glsl"
#include "lib/exponent.glsl"
#include "stack/random.glsl"
#include "stack/raw.glsl"

uniform sampler2D raw;
uniform ivec4 extent;  // matrices, columns of X, texels of a record, texels in a row of records
#if DETERMINANT == 0 && IDENTITY == 0
uniform int start;     // place of the first element of the first B
#endif

layout(location = 0) out vec4 record;

// Loops have constant ends, so that they are written out and every index is known to the compiler.
#define EACH(i) int i = 0; i < ORDER; ++i

vec4 A[ORDER];  // rows, a multiplier where there is a zero
int row_exponents[ORDER];
int column_exponents[ORDER];
int pivots[ORDER];
vec4 X[ORDER];   // right-hand sides of the four elements, then solutions
vec2 probe[ORDER];

void fetch_matrix(int matrix) {
    for (EACH(i)) {
        A[i] = vec4(0.0);
        for (EACH(j)) A[i][j] = element_of(raw, matrix * ORDER * ORDER, ORDER * i + j);
    }
}

void equilibrate() {
    for (EACH(i)) {
        row_exponents[i] = 0;
        column_exponents[i] = 0;
    }
#if EQUILIBRATE
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
#endif
}

void fetch_right_sides(int matrix, int place) {
    for (EACH(i)) {
        X[i] = vec4(0.0);
        probe[i] = vec2(random_at(i, 0), random_at(i, 1));
    }
#if DETERMINANT == 0
    for (int c = 0; c < 4; ++c) {
        int e = place + c;
        int columns = extent.y;
        int column = e - int((float(e) + 0.5) / float(columns)) * columns;
        for (EACH(i)) {
#if IDENTITY
            float b = i == column ? 1.0 : 0.0;
#else
            float b = element_of(raw, start + matrix * ORDER * columns, i * columns + column);
#endif
            X[i][c] = scaled(b, -row_exponents[i]);
        }
    }
#endif
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
    vec2 z = probe[k];
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

void substitute_back() {
    for (EACH(step)) {
        int i = ORDER - 1 - step;
        // Columns by pairs, the last pair first, as the blocks of larger matrices.
        for (int s = 0; s < 4; ++s) {
            int j = s < 2 ? 2 + s : s - 2;
            if (j > i && j < ORDER) {
                X[i] -= A[i][j] * X[j];
                probe[i] -= A[i][j] * probe[j];
            }
        }
        for (int c = 0; c < 4; ++c) X[i][c] = multiplier(X[i][c], A[i][i]);
        probe[i] = vec2(multiplier(probe[i].x, A[i][i]), multiplier(probe[i].y, A[i][i]));
    }
}

float largest(int j) {
    float most = 0.0;
    for (EACH(i)) {
        if (i <= j) most = max(most, abs(A[i][j]));
    }
    return most;
}

// Figure number f: the lines one after the other.
float figure(int f) {
    float found = 0.0;
    for (EACH(i)) {
        if (f == i) found = A[i][i];
        if (f == ORDER + i) found = largest(i);
#if DETERMINANT
        if (f == 2 * ORDER + i) found = float(pivots[i]);
        if (f == 3 * ORDER + i) found = float(row_exponents[i] + column_exponents[i]);
#else
        if (f == 2 * ORDER + i) found = probe[i].x * probe[i].x + probe[i].y * probe[i].y;
#endif
    }
    return found;
}

float solution(int e, int c) {
    int row = int((float(e) + 0.5) / float(extent.y));
    float found = 0.0;
    for (EACH(i)) {
        if (row == i) found = scaled(X[i][c], -column_exponents[i]);
    }
    return found;
}

void main() {
    int texel = int(gl_FragCoord.y) * extent.w + int(gl_FragCoord.x);
    int matrix = texel / extent.z;
    int place = 4 * (texel - matrix * extent.z);  // of the first of the four elements in the record
    record = vec4(0.0);
    if (matrix >= extent.x) return;
    fetch_matrix(matrix);
    equilibrate();
    fetch_right_sides(matrix, place);
    eliminate();
#if DETERMINANT
    for (int c = 0; c < 4; ++c) record[c] = figure(place + c);
#else
    substitute_back();
    for (int c = 0; c < 4; ++c) {
        int f = place + c - ORDER * extent.y;
        record[c] = f < 0 ? solution(place + c, c) : figure(f);
    }
#endif
}
