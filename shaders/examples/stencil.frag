// A 3 x 3 stencil: result[i, j] = sum over p, q of weights[p, q] A[i + p - 1, j + q - 1].
//
// A fragment computes four elements. Beyond the edges the elements of the edges go on.
// A   rows x columns, packed      weights   3 x 3; GLSL writes weights[p, q] as weights[q][p]
// result   rows x columns, packed
// Cost per fragment: 36 fetches and 72 flop.

#include "lib/elements.glsl"
uniform sampler2D A;
uniform mat3 weights;
layout(location = 0) out vec4 result;

float stencil(int i, int j) {
    float sum = 0.0;
    for (int k = 0; k < 9; ++k) sum += weights[k % 3][k / 3] * element_clamped(A, i + k / 3 - 1, j + k % 3 - 1);
    return sum;
}

void main() { result = each_element(stencil); }
