// C[i, j] = sum over all windows W of w x w elements of A that hold (i, j), of (W W)[i - top, j - left].
//
// The source scatters: a window adds its square to C, one row of windows after the other, by atomic additions. A fragment
// cannot scatter, so it gathers: each of its four elements sums the products of all windows that it is in, and no order
// of the windows matters any more.
// A   rows x columns, packed      C   likewise
// Cost per fragment: up to (w + 1)^2 windows, each of 2 w fetches and 8 w flop.
// "Dense matrix multiplication" (aksoyyusuf, CUDA), section "Designing the Solution".

#include "window_squares/window.glsl"

uniform int w;        // rows and columns of a window
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y, j = 2 * texel.x;
    vec4 sum = vec4(0.0);
    for (int top = max(0, i - w + 1); top <= min(shape.x - w, i + 1); ++top) {
        for (int left = max(0, j - w + 1); left <= min(shape.y - w, j + 1); ++left) {
            vec4 square = vec4(0.0);
            for (int k = 0; k < w; ++k) square += in_own_rows(left + k).xxyy * in_own_columns(top + k).xyxy;
            // The window may hold one of the two rows and columns only.
            bvec2 rows = bvec2(top <= i, i + 1 < top + w), columns = bvec2(left <= j, j + 1 < left + w);
            sum += vec4(rows.x && columns.x ? square.r : 0.0, rows.x && columns.y ? square.g : 0.0,
                        rows.y && columns.x ? square.b : 0.0, rows.y && columns.y ? square.a : 0.0);
        }
    }
    result = without_padding(limited(sum), texel, shape);
}
