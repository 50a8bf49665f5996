// Vectors: a texel of M holds one element, four elements of a row, or four of a column.
//
//     ROWS 1, COLUMNS 1    M[y, x]                                              one channel
//     ROWS 1, COLUMNS 4    M[y, 4x]   M[y, 4x+1]   M[y, 4x+2]   M[y, 4x+3]      four, r g b a
//     ROWS 4, COLUMNS 1    M[4y, x]   M[4y+1, x]   M[4y+2, x]   M[4y+3, x]      four, r g b a
//
// Elements of a texel are its lanes. A vector is a vec4 throughout; of a single element only r counts.

#ifndef ROWS
#define ROWS 1     // rows of the matrix in a texel (1, 4)
#endif
#ifndef COLUMNS
#define COLUMNS 1  // columns of the matrix in a texel (1, 4)
#endif
#if ROWS * COLUMNS != 4 && ROWS * COLUMNS != 1 || ROWS == 2
#error ROWS and COLUMNS must be 1 and 1, 1 and 4, or 4 and 1
#endif

#include "lib/pivots.glsl"

const int LANES = ROWS * COLUMNS;

int row_of(ivec2 texel, int lane) {
    return ROWS * texel.y + (ROWS == 1 ? 0 : lane);
}

int column_of(ivec2 texel, int lane) {
    return COLUMNS * texel.x + (COLUMNS == 1 ? 0 : lane);
}

float element(sampler2D M, int i, int j) {
    vec4 vector = texelFetch(M, ivec2(j / COLUMNS, i / ROWS), 0);
    return vector[ROWS == 4 ? i & 3 : COLUMNS == 4 ? j & 3 : 0];
}

// A texel of M as it is after rows a and b have changed places.
vec4 exchanged_vector(sampler2D M, ivec2 texel, int a, int b) {
    if (ROWS == 1) return texelFetch(M, ivec2(texel.x, exchanged(texel.y, a, b)), 0);
    vec4 vector = texelFetch(M, texel, 0);
    if (a >> 2 == texel.y) vector[a & 3] = element(M, b, texel.x);
    if (b >> 2 == texel.y) vector[b & 3] = element(M, a, texel.x);
    return vector;
}

// Row i of M beside a texel: the elements in the texel's columns, lane by lane.
vec4 row_beside(sampler2D M, int i, ivec2 texel) {
    if (ROWS == 1) return texelFetch(M, ivec2(texel.x, i), 0);
    return vec4(element(M, i, texel.x));
}

// A column of factors beside a texel: those of the texel's rows, lane by lane. `column` has ROWS rows in a texel.
vec4 column_beside(sampler2D column, ivec2 texel) {
    vec4 factors = texelFetch(column, ivec2(0, texel.y), 0);
    return ROWS == 1 ? vec4(factors.r) : factors;
}
