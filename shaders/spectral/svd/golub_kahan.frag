// T of order 2n, whose eigenvalues are the singular values of a bidiagonal matrix and those with a minus.
//
// Its diagonal is zero, beside it stand d_1 e_1 d_2 e_2 ... d_n. Its vectors are v_1 u_1 v_2 u_2 ..., over sqrt 2.
//
// H   packed, square: d on its diagonal, e right of it
// T   a line of texels (0, d or e, 0, 0)
// Cost per fragment: 1 fetch.
// Golub and Kahan 1965.

#include "lib/packed.glsl"

uniform sampler2D H;
uniform int n;  // order of H

layout(location = 0) out vec4 T;

void main() {
    int i = int(gl_FragCoord.x);
    int row = i >> 1;
    int column = row + (i & 1);
    T = vec4(0.0);
    if (column < n) T.g = row_pair(H, row, column >> 1)[column & 1];
}
