// A 3 x 3 matrix of a stack in registers, its rows and columns scaled by powers of two: the cofactors of what is left are
// of magnitude 4 at most, where those of entries of 1e13 would overflow in a determinant.
//
//     adj(A)[l] = A[p] A[q] - A[r] A[s]      l = 3 i + j, entries row by row
//
// PATTERN holds p, q, r, s of element l, four bits each, the lowest first. Indices of loops are constant once they are
// written out, so A stays in registers.

#include "lib/exponent.glsl"

const int PATTERN[9] =
    int[9](0x7584, 0x1827, 0x4251, 0x8365, 0x2608, 0x5032, 0x6473, 0x0716, 0x3140);

uniform sampler2D raw;  // one element per texel: all matrices, one after the other

float A[9];
int row_exponents[3];
int column_exponents[3];

void fetch_matrix(int matrix) {
    int width = textureSize(raw, 0).x;
    int first = 9 * matrix;
    ivec2 at = ivec2(first % width, first / width);
    for (int e = 0; e < 9; ++e) {
        A[e] = texelFetch(raw, at, 0).r;
        ++at.x;
        if (at.x == width) at = ivec2(0, at.y + 1);
    }
    int own[9];
    for (int i = 0; i < 3; ++i) {
        int most = NO_EXPONENT;
        for (int j = 0; j < 3; ++j) {
            own[3 * i + j] = exponent_of(A[3 * i + j]);
            most = max(most, own[3 * i + j]);
        }
        row_exponents[i] = most == NO_EXPONENT ? 0 : most;
    }
    for (int j = 0; j < 3; ++j) {
        int most = 2 * NO_EXPONENT;
        for (int i = 0; i < 3; ++i) {
            if (own[3 * i + j] != NO_EXPONENT) most = max(most, own[3 * i + j] - row_exponents[i]);
        }
        column_exponents[j] = most == 2 * NO_EXPONENT ? 0 : most;
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) A[3 * i + j] = scaled(A[3 * i + j], -(row_exponents[i] + column_exponents[j]));
    }
}

float cofactor(int l) {
    float plus = A[PATTERN[l] & 15] * A[PATTERN[l] >> 4 & 15];
    float minus = A[PATTERN[l] >> 8 & 15] * A[PATTERN[l] >> 12];
    return plus - minus;
}

// The same with all terms positive: what rounding errors are measured by.
float magnitude(int l) {
    float plus = A[PATTERN[l] & 15] * A[PATTERN[l] >> 4 & 15];
    float minus = A[PATTERN[l] >> 8 & 15] * A[PATTERN[l] >> 12];
    return abs(plus) + abs(minus);
}

float permanent() {
    return abs(A[0]) * magnitude(0) + abs(A[1]) * magnitude(3) + abs(A[2]) * magnitude(6);
}

// Element l of the inverse of the matrix as it was, of that of the scaled one.
float scaled_back(float x, int l) {
    int row = l / 3;
    int e = 0;
    for (int i = 0; i < 3; ++i) {
        if (i == row) e += column_exponents[i];
        if (i == l - 3 * row) e += row_exponents[i];
    }
    return scaled(x, -e);
}
