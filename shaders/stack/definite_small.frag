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

#ifndef ORDER
#define ORDER 3  // rows and columns of A (1 to 4)
#endif
#if ORDER < 1 || ORDER > 4
#error ORDER must be 1 to 4
#endif
#ifndef GIVEN
#define GIVEN 0  // matrices come in (0), or their factors (1)
#endif
#ifndef RESULT
#define RESULT 0  // the factor (0), the solution (1), the inverse (2)
#endif

#include "lib/root.glsl"
#include "stack/raw.glsl"

uniform sampler2D raw;
uniform ivec4 extent;  // matrices, columns of X, texels of a record, texels in a row of records
#if RESULT == 1
uniform int start;     // place of the first element of the first B
#endif

layout(location = 0) out vec4 record;

// Loops have constant ends, so that they are written out and every index is known to the compiler.
#define EACH(i) int i = 0; i < ORDER; ++i

vec4 L[ORDER];  // rows: what remains of A, then the factor, with zeros above its diagonal
vec4 X[ORDER];  // right-hand sides of the four elements, then solutions; or the lower half of the inverse

void fetch_lower_half(int matrix) {
    for (EACH(i)) {
        L[i] = vec4(0.0);
        for (EACH(j)) {
            if (j <= i) L[i][j] = element_of(raw, matrix * ORDER * ORDER, ORDER * i + j);
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
void fetch_right_sides(int matrix, int place) {
    int columns = extent.y;
    for (int c = 0; c < 4; ++c) {
        int e = place + c;
        int column = e - int((float(e) + 0.5) / float(columns)) * columns;
        for (EACH(i)) X[i][c] = element_of(raw, start + matrix * ORDER * columns, i * columns + column);
    }
}
#endif

void invert() {  // U U^T, where L^T U = I
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

// Element e of the record, component c of the four.
float element(int e, int c) {
    int row = int((float(e) + 0.5) / float(extent.y));
    float found = 0.0;
    for (EACH(i)) {
#if RESULT == 1
        if (row == i) found = X[i][c];
#else
        for (EACH(j)) {
            if (row == i && e - row * ORDER == j) {
#if RESULT == 0
                found = L[i][j];
#else
                found = X[max(i, j)][min(i, j)];  // symmetric bit by bit
#endif
            }
        }
#endif
    }
    return found;
}

float figure(int f) {  // number f: the lines one after the other
    float found = 0.0;
    for (EACH(i)) {
        if (f == i) found = L[i][i];
#if RESULT == 2
        if (f == ORDER + i) found = X[i][i];
#else
        if (f == ORDER + i) found = L[i][i];
#endif
    }
    return found;
}

void main() {
    int texel = int(gl_FragCoord.y) * extent.w + int(gl_FragCoord.x);
    int matrix = texel / extent.z;
    int place = 4 * (texel - matrix * extent.z);  // of the first of the four elements in the record
    record = vec4(0.0);
    if (matrix >= extent.x) return;
    fetch_lower_half(matrix);
#if GIVEN == 0
    factor();
#endif
#if RESULT == 1
    fetch_right_sides(matrix, place);
    substitute_forward();
    substitute_back();
#elif RESULT == 2
    invert();
#endif
    for (int c = 0; c < 4; ++c) {
        int f = place + c - ORDER * extent.y;
        record[c] = f < 0 ? element(place + c, c) : figure(f);
    }
}
