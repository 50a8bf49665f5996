// X = adj(A) / det A of every 3 x 3 matrix of a stack: the second half of the adjugate formula.
//
// A fragment computes one element of a record: X row by row, then two diagnostics of the scaled A, then a zero,
//
//     det A  = a M0 + b M3 + c M6
//     perm A = the same with all terms positive: rounding moves det A by 6 u perm A at most
//
// raw         one element per texel: all A, one after the other      cofactors   likewise, adj(A)
// record      12 elements for each matrix, one per texel
// Cost per fragment: 13 fetches; 5 flop and a division.
// "PyCuda code to invert a high number of 3x3 matrixes", forum answer: a thread an element.

#include "inv3/matrix3.glsl"
#include "lib/divide.glsl"

uniform sampler2D cofactors;
uniform ivec2 extent;  // matrices, texels in a row of records

layout(location = 0) out float element;

float known_cofactor(int matrix, int l) {
    int width = textureSize(cofactors, 0).x;
    int place = 9 * matrix + l;
    return texelFetch(cofactors, ivec2(place % width, place / width), 0).r;
}

void main() {
    int place = int(gl_FragCoord.y) * extent.y + int(gl_FragCoord.x);
    int matrix = place / 12;
    int l = place - 12 * matrix;
    element = 0.0;
    if (matrix >= extent.x || l == 11) return;
    fetch_matrix(matrix);
    float det = A[0] * known_cofactor(matrix, 0);
    det += A[1] * known_cofactor(matrix, 3);
    det += A[2] * known_cofactor(matrix, 6);
    if (l == 9) element = det;
    else if (l == 10) element = permanent();
    else element = scaled_back(quotient(known_cofactor(matrix, l), det), l);
}
