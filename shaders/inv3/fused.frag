// X = adj(A) / det A of every 3 x 3 matrix of a stack, in one pass.
//
// A fragment computes four elements of a record, see divide.frag, and all cofactors anew, which saves a pass.
// raw      one element per texel: all A, one after the other
// record   12 elements for each matrix, four per texel
// Cost per fragment: 9 fetches, 50 flop, 4 divisions.
// "PyCuda code to invert a high number of 3x3 matrixes", forum answer, without its barriers.

#include "inv3/matrix3.glsl"
#include "lib/divide.glsl"

uniform ivec2 extent;  // matrices, texels in a row of records

layout(location = 0) out vec4 record;

void main() {
    int texel = int(gl_FragCoord.y) * extent.y + int(gl_FragCoord.x);
    int matrix = texel / 3;
    int first = 4 * (texel - 3 * matrix);
    record = vec4(0.0);
    if (matrix >= extent.x) return;
    fetch_matrix(matrix);
    float M[9];
    for (int l = 0; l < 9; ++l) M[l] = cofactor(l);
    float det = A[0] * M[0];
    det += A[1] * M[3];
    det += A[2] * M[6];
    for (int c = 0; c < 4; ++c) {
        for (int l = 0; l < 9; ++l) {
            if (l == first + c) record[c] = scaled_back(quotient(M[l], det), l);
        }
        if (first + c == 9) record[c] = det;
        if (first + c == 10) record[c] = permanent();
    }
}
