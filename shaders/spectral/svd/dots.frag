// y = A^T x, x the column of a step from its first row on, and the numbers of its reflector: (y, y, sum of squares, alpha).
//
// A fragment computes y of two columns; each sums the squares below the first row alpha, so that no pass folds them.
// A   packed, square
// D   a line of texels
// Cost per fragment: 2 `height` fetches, 6 `height` flop.

#include "spectral/svd/view.glsl"

uniform int height;  // of A in texels

layout(location = 0) out vec4 D;

void main() {
    int own = int(gl_FragCoord.x);
    D = vec4(0.0);
    for (int y = first >> 1; y < height; ++y) {
        vec2 x = column(y);
        if (2 * y < first) x.x = 0.0;
        vec4 block = seen(own, y);
        D.rg += block.rg * x.x;
        D.rg += block.ba * x.y;
        if (2 * y == first) D.a = x.x;
        else D.b += x.x * x.x;
        if (2 * y + 1 == first) D.a = x.y;
        else D.b += x.y * x.y;
    }
}
