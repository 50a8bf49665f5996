// raw = for each matrix of a stack, one after the other: its elements in NumPy's C order, then lines of diagnostics.
//
// A fragment computes one element of a record:
//
//     M[0,0] M[0,1] ... M[rows-1, columns-1]     with MATRIX; with SCALED row i is multiplied by 2^-f_i
//     u_00 u_11 ...                              with DIAGNOSTICS: the diagonal of U
//     s_0 s_1 ...                                s_j = max |u_ij|: a pivot that is small beside it may be an error; of a
//                                                symmetric M (MIRROR) its own diagonal
//     p_0 p_1 ...                                with PIVOTS: as LAPACK's, row i was exchanged with row p_i
//     e_0 + f_0, ...                             with EXPONENTS: what rows and columns were scaled by, 2^-(e + f)
//     z_0 z_1 ...                                with PROBES: sums of squares in the rows of two more columns of M
//
// so one read-back has all that the host wants to know.
// M, LU               stacks of packed matrices
// pivots              for each matrix a column of texels (p_2y, p_2y+1, 0, 0)
// row_exponents, column_exponents   for each matrix a column of texels (e_2y, e_2y+1, 0, 0)
// raw                 one element per texel, row by row
// Cost per fragment: 1 or 2 fetches; of s_j, j + 1.

#ifndef MATRIX
#define MATRIX 1  // records hold the elements of M (0, 1)
#endif
#ifndef DIAGNOSTICS
#define DIAGNOSTICS 0  // records hold diagnostics of the factors (0, 1), or the line of them in the first row of LU (2)
#endif
#ifndef PIVOTS
#define PIVOTS 0  // ... the pivots among them (0, 1)
#endif
#ifndef EXPONENTS
#define EXPONENTS 0  // ... and what rows and columns were scaled by, which takes PIVOTS (0, 1)
#endif
#ifndef PROBES
#define PROBES 0  // ... and squares of solutions for random numbers, which takes MATRIX and no PIVOTS (0, 1)
#endif
#ifndef SCALED
#define SCALED 0  // undo the scaling of columns, in a solution (0, 1)
#endif
#ifndef MIRROR
#define MIRROR 0  // M is symmetric: what is right of its diagonal is taken from below it (0, 1)
#endif
#if EXPONENTS && PIVOTS == 0 || PROBES && (PIVOTS || MATRIX == 0)
#error EXPONENTS come after PIVOTS; PROBES take MATRIX and no PIVOTS
#endif
#define STACK 1

#include "lib/packed.glsl"
#include "lib/exponent.glsl"

uniform ivec3 record;  // rows and columns of M, length of the record
uniform int count;     // matrices
uniform int width;     // texels in a row of raw

layout(location = 0) out float element;

int b;  // the matrix

float entry(sampler2D A, int i, int j) {
    vec2 pair = half_of(texelFetch(A, at(ivec2(j >> 1, i >> 1), b), 0), i);
    return (j & 1) == 0 ? pair.x : pair.y;
}

float of_column(sampler2D A, int i) {  // a column of texels, two diagnostics each
    vec2 pair = texelFetch(A, at(ivec2(0, i >> 1), b), 0).rg;
    return (i & 1) == 0 ? pair.x : pair.y;
}

#if MATRIX
uniform sampler2D M;
#define OF_M(i, j) entry(M, i, j)
#define PAIR_OF_M(i, x) half_of(texelFetch(M, at(ivec2(x, (i) >> 1), b), 0), i)
#else
#define OF_M(i, j) 0.0
#define PAIR_OF_M(i, x) vec2(0.0)
#endif
#if PIVOTS
uniform sampler2D pivots;
#define PIVOT(i) of_column(pivots, i)
#else
#define PIVOT(i) 0.0
#endif
#if EXPONENTS
uniform sampler2D row_exponents;
#define ROW_EXPONENT(i) of_column(row_exponents, i)
#else
#define ROW_EXPONENT(i) 0.0
#endif
#if EXPONENTS || SCALED
uniform sampler2D column_exponents;
#define COLUMN_EXPONENT(i) of_column(column_exponents, i)
#else
#define COLUMN_EXPONENT(i) 0.0
#endif

#if DIAGNOSTICS
uniform sampler2D LU;
uniform int order;     // diagnostics in a line

float diagnostic(int place) {
    int line = place / order;
    int i = place % order;
    if (DIAGNOSTICS == 2) return entry(LU, 0, i);
    if (line == 1 && MIRROR == 1) return OF_M(i, i);
    if (line <= 1) {
        float last, largest = 0.0;
        for (int row = line == 0 ? i : 0; row <= i; ++row) {
            last = entry(LU, row, i);
            largest = max(largest, abs(last));
        }
        return line == 0 ? last : largest;
    }
    if (line == 2 && PROBES == 1) {
        vec2 pair = PAIR_OF_M(i, record.y + 1 >> 1);  // behind M's own columns
        return pair.x * pair.x + pair.y * pair.y;
    }
    if (line == 2) return PIVOT(i);
    return line == 3 && EXPONENTS == 1 ? ROW_EXPONENT(i) + COLUMN_EXPONENT(i) : 0.0;
}
#else
#define diagnostic(place) 0.0
#endif

float of_matrix(int i, int j) {
    if (SCALED == 1) return scaled(OF_M(i, j), -int(COLUMN_EXPONENT(i)));
    return MIRROR == 1 ? OF_M(max(i, j), min(i, j)) : OF_M(i, j);
}

void main() {
    int place = int(gl_FragCoord.y) * width + int(gl_FragCoord.x);
    b = place / record.z;
    place %= record.z;
    element = 0.0;
    if (b >= count) return;
    int elements = record.x * record.y;
    if (place >= elements) element = diagnostic(place - elements);
    else if (MATRIX == 1) element = of_matrix(place / record.y, place % record.y);
}
