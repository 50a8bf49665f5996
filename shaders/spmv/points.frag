// y[i] += A[i, j] x[j]: one point for each entry, added to the texel of its row by blending.
//
// A fragment computes the product of its entry, in the channel of its row; what others add to the texel may come in any
// order. y is zero before.
// A       a texel for each entry        places  (of row i in y, of column j in x) of each
// x, y    wrapped
// Cost per fragment: 2 fetches and one of the vertex stage, 2 flop, one texel blended.
// Fetches: 2.
// Krueger and Westermann, "Linear algebra operators for GPU implementation of numerical algorithms" (2003), section 4.3.

uniform sampler2D A;
uniform sampler2D x;

flat in ivec4 entry;

layout(location = 0) out vec4 y;

#include "spmv/sparse.glsl"

void main() {
    float product = term(texelFetch(A, entry.xy, 0).r, x_at(entry.w));
    int own = entry.z & 3;
    y = vec4(own == 0 ? product : 0.0, own == 1 ? product : 0.0, own == 2 ? product : 0.0, own == 3 ? product : 0.0);
}
