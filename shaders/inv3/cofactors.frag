// M = adj(A) of every 3 x 3 matrix of a stack: the first half of the adjugate formula.
//
// A fragment computes one element, as a thread of the source does: two products of four entries, which ones its place
// says. The source's threads wait for each other then; here a pass ends.
// raw        one element per texel: all A, one after the other      cofactor   likewise, of the scaled A
// Cost per fragment: 9 fetches (4 for the entries, the others for the scaling, which the source does not have); 3 flop.
// "PyCuda code to invert a high number of 3x3 matrixes", forum answer: a thread an element.

#include "inv3/matrix3.glsl"

uniform ivec2 extent;  // matrices, texels in a row

layout(location = 0) out float element;

void main() {
    int place = int(gl_FragCoord.y) * extent.y + int(gl_FragCoord.x);
    int matrix = place / 9;
    element = 0.0;
    if (matrix >= extent.x) return;
    fetch_matrix(matrix);
    for (int l = 0; l < 9; ++l) {
        if (l == place - 9 * matrix) element = cofactor(l);
    }
}
