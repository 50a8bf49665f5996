// h = the inner products of both rounds, added, and behind them the norm of what is left: a column of a Hessenberg matrix.
//
// products  see `products.glsl`        h  four to a texel, in row `count`
// Cost per fragment: a fetch for each partial sum.
// Fetches: 1 to 2 * products_height * products_width.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#include "krylov/products.glsl"

layout(location = 0) out vec4 h;

void main() {
    int group = int(gl_FragCoord.x), count = int(gl_FragCoord.y);
    h = four(count, 0, group) + four(count, 1, group);
    if (group != place(count) >> 2) return;
    int part = max(count - 1, 0) / PART;
    float whole = four(count, 1, part * STRIDE / 4).r, left = whole;
    for (int g = part * STRIDE / 4; count > 0 && 4 * g <= place(count - 1); ++g) {
        vec4 c = along(count, 1, g);
        left -= dot(c, c);
    }
    h[place(count) & 3] = norm(left, whole);
}
