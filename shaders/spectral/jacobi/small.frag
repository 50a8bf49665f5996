// Eigenvalues, ascending, and eigenvectors of a symmetric matrix of order 5 at most, by one fragment in registers.
//
// The elements of a matrix's record, four in each target, with zeros behind the last:
//
//     l_0 l_1 ...; then, with VECTORS, V in C order: column j belongs to l_j, and its largest entry is positive
//
// The matrix is scaled by a power of two, so that its largest entry is in [1, 2). Sweeps are cyclic. With VECTORS l_0 is NaN
// where norm(A V - V diag(l)) exceeds ENOUGH norm(A), or norm(V^T V - I) ENOUGH; without, where A is not finite.
// raw         one element per texel: all A, of which the lower half is read
// C0, C1 ...  a texel for each matrix, row by row
// Cost per fragment: ORDER (ORDER + 1) / 2 fetches; SWEEPS ORDER (ORDER - 1) / 2 rotations, of 12 ORDER flop, 2 roots and 4 divisions.
// Jacobi 1846; Rutishauser, "The Jacobi method for real symmetric matrices" (1966).

#ifndef ORDER
#define ORDER 3  // rows and columns of A (1 to 5)
#endif
#ifndef SWEEPS
#define SWEEPS 5
#endif
#ifndef VECTORS
#define VECTORS 1  // records have eigenvectors (0, 1)
#endif
#ifndef ENOUGH
#define ENOUGH 1e-6
#endif
#ifndef TARGETS
#define TARGETS 4  // texels of a record (1, 2, 4, 8)
#endif
#define ROWS TARGETS
#define COLUMNS 1

#include "lib/exponent.glsl"
#include "lib/ieee.glsl"
#include "matmul/targets.glsl"
#include "spectral/jacobi/rotation.glsl"

uniform sampler2D raw;
uniform ivec2 extent;  // matrices, texels in a row of the targets

// Loops are short and have constant ends, the rest is written out: every index is known to the compiler.
#define EACH(i) int i = 0; i < ORDER; ++i
#define PAIRS_1(DO)
#define PAIRS_2(DO) DO(0, 1)
#define PAIRS_3(DO) PAIRS_2(DO) DO(0, 2) DO(1, 2)
#define PAIRS_4(DO) PAIRS_3(DO) DO(0, 3) DO(1, 3) DO(2, 3)
#define PAIRS_5(DO) PAIRS_4(DO) DO(0, 4) DO(1, 4) DO(2, 4) DO(3, 4)
#define EACH_1(DO) DO(0)
#define EACH_2(DO) EACH_1(DO) DO(1)
#define EACH_3(DO) EACH_2(DO) DO(2)
#define EACH_4(DO) EACH_3(DO) DO(3)
#define EACH_5(DO) EACH_4(DO) DO(4)
#define JOINED(a, b) a ## b
#define PAIRS_OF(n, DO) JOINED(PAIRS_, n)(DO)
#define EACH_OF(n, DO) JOINED(EACH_, n)(DO)

float a[ORDER * ORDER];  // row by row
float v[ORDER * ORDER];  // column by column
float given[ORDER * ORDER];  // A, scaled

int fetch(int matrix) {  // the matrix, scaled; gives its exponent
    int width = textureSize(raw, 0).x;
    int start = matrix * ORDER * ORDER;
    ivec2 place = ivec2(start % width, start / width);
    float largest = 0.0;
    for (EACH(i)) {
        for (EACH(j)) {
            if (j <= i) {
                a[ORDER * i + j] = a[ORDER * j + i] = texelFetch(raw, place, 0).r;
                largest = max(largest, abs(a[ORDER * i + j]));
            }
            v[ORDER * j + i] = i == j ? 1.0 : 0.0;
            if (++place.x == width) place = ivec2(0, place.y + 1);
        }
    }
    int e = exponent_of(largest);
    if (e == NO_EXPONENT) e = largest == 0.0 ? -126 : 0;  // denormals may have become zeros
    for (int k = 0; k < ORDER * ORDER; ++k) given[k] = a[k] = scaled(a[k], -e);
    return e;
}

void turn(inout float x, inout float y, Rotation r) {
    float old = x;
    x = turned(old, y, r, 0);
    y = turned(old, y, r, 1);
}

void exchange(inout float x, inout float y) {
    float old = x;
    x = y;
    y = old;
}

// Rows, columns and vectors p and q turned, so that a_pq is zero.
#define ROTATE(p, q)                                                                     \
    {                                                                                    \
        float h = a[ORDER * p + q];                                                      \
        Rotation r = rotation(a[ORDER * p + p], h, a[ORDER * q + q]);                    \
        for (EACH(i)) {                                                                  \
            if (i != p && i != q) turn(a[ORDER * p + i], a[ORDER * q + i], r);           \
            a[ORDER * i + p] = a[ORDER * p + i];                                         \
            a[ORDER * i + q] = a[ORDER * q + i];                                         \
            if (VECTORS == 1) turn(v[ORDER * p + i], v[ORDER * q + i], r);               \
        }                                                                                \
        a[ORDER * p + p] -= r.t * h;                                                     \
        a[ORDER * q + q] += r.t * h;                                                     \
        a[ORDER * p + q] = a[ORDER * q + p] = 0.0;                                       \
    }

// Values p and q, and their vectors, in order.
#define SORT(p, q)                                                                       \
    if (a[ORDER * p + p] > a[ORDER * q + q]) {                                           \
        exchange(a[ORDER * p + p], a[ORDER * q + q]);                                    \
        for (EACH(i)) exchange(v[ORDER * p + i], v[ORDER * q + i]);                      \
    }

// Value j, and vector j with the first of its largest entries above zero.
#define RECORD(j)                                                                        \
    record[j / 4][j % 4] = scaled(a[ORDER * j + j], e);                                  \
    if (VECTORS == 1) {                                                                  \
        float largest = 0.0;                                                             \
        for (EACH(i)) largest = abs(v[ORDER * j + i]) > abs(largest) ? v[ORDER * j + i] : largest; \
        for (EACH(i)) {                                                                  \
            int place = ORDER * (i + 1) + j;                                             \
            record[place / 4][place % 4] = largest < 0.0 ? -v[ORDER * j + i] : v[ORDER * j + i]; \
        }                                                                                \
    }

// Adds the squares of column j of A V - V diag(l), of V^T V - I, and of A, to `squares`.
#define JUDGE(j)                                                                         \
    for (EACH(i)) {                                                                      \
        float r = -a[ORDER * j + j] * v[ORDER * j + i];                                  \
        float o = i == j ? -1.0 : 0.0;                                                   \
        for (EACH(k)) r += given[ORDER * i + k] * v[ORDER * j + k];                      \
        for (EACH(k)) o += v[ORDER * i + k] * v[ORDER * j + k];                          \
        squares += vec3(r, o, given[ORDER * i + j]) * vec3(r, o, given[ORDER * i + j]);  \
    }

void main() {
    int matrix = int(gl_FragCoord.y) * extent.y + int(gl_FragCoord.x);
    vec4 record[TARGETS];
    for (int k = 0; k < TARGETS; ++k) record[k] = vec4(0.0);
    if (matrix < extent.x) {
        int e = fetch(matrix);
        for (int sweep = 0; sweep < SWEEPS; ++sweep) {
            PAIRS_OF(ORDER, ROTATE)
        }
        PAIRS_OF(ORDER, SORT)
        EACH_OF(ORDER, RECORD)
        vec3 squares = vec3(0.0);
        EACH_OF(ORDER, JUDGE)
        bool small = squares.r <= ENOUGH * ENOUGH * squares.b && squares.g <= ENOUGH * ENOUGH;
        if (VECTORS == 1 ? !small : !is_finite(squares.b)) record[0].r = NOT_A_NUMBER;
    }
    PUT(record)
}
