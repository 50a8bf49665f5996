// C[i, j] = sum_k R_k(i, j) S_k(i, j), the sum over all windows of A, taken apart:
//
//     sum over windows (p, q), and k, of A[i, q + k] A[p + k, j],
//     R_k(i, j) = sum over q of A[i, q + k],  S_k(i, j) = sum over p of A[p + k, j],
//
// as the rows p of windows that hold (i, j) and their columns q do not depend on each other: w products in place of w^3.
// Windows end at the edges of A, so q goes from max(0, j - w + 1) to min(columns - w, j), and p likewise; zeros around A
// would be wrong. The sums for two neighbours differ by their first and last term, and no sum is ever got by a
// difference: integers stay exact, and a large element leaves nothing behind.
// A fragment computes four elements of a cross of texels, which it fetches once (W > 0), or again for each k (W = 0).
// A   rows x columns, packed      C   likewise
// Cost per fragment: 4 (W / 2) + 2 fetches, 4 W (W + 1) + 8 W additions and multiplications; W = 0: 2 w (w + 1) fetches.
// Fetches: (W > 0) * (4 * (W / 2) + 2) + (W < 1) * (2 * w * (w + 1)).
// glla, after "Dense matrix multiplication" (aksoyyusuf, CUDA).

#ifndef W
#define W 0  // rows and columns of a window that is kept in registers; 0 for any, by the uniform w (0 to 16)
#endif

#include "window_squares/window.glsl"

#if W > 0
const int w = W;
#else
uniform int w;        // rows and columns of a window
#endif
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

#if W > 0
// Elements of the cross: columns 2 (x - W / 2) ... in the rows of the fragment, and rows likewise.
const int TEXELS = 2 * (W / 2) + 1, SKIPPED = 1 - W % 2;
vec2 across[2 * TEXELS], down[2 * TEXELS];

void fetch_cross() {
    ivec2 texel = ivec2(gl_FragCoord.xy), last = (shape.yx + 1) / 2 - 1;
    for (int t = 0; t < TEXELS; ++t) {
        ivec2 at = clamp(texel + t - W / 2, ivec2(0), last);  // what is outside is never added
        vec4 beside = texelFetch(A, ivec2(at.x, texel.y), 0), above = texelFetch(A, ivec2(texel.x, at.y), 0);
        across[2 * t] = beside.rb;
        across[2 * t + 1] = beside.ga;
        down[2 * t] = above.rg;
        down[2 * t + 1] = above.ba;
    }
}

// The elements in place d of the cross: column 2 x - w + 1 + d in both rows, or row 2 y - w + 1 + d in both columns.
#define ACROSS(d) across[SKIPPED + (d)]
#define DOWN(d) down[SKIPPED + (d)]
#else
void fetch_cross() {}

vec2 ACROSS(int d) { return in_own_rows(clamp(2 * int(gl_FragCoord.x) - w + 1 + d, 0, shape.y - 1)); }
vec2 DOWN(int d) { return in_own_columns(clamp(2 * int(gl_FragCoord.y) - w + 1 + d, 0, shape.x - 1)); }
#endif

// Whether there is a window at place d of a line of `count` elements, of which the fragment has 2 t and 2 t + 1.
bool is_window(int d, int t, int count) {
    int first = 2 * t - w + 1 + d;
    return first >= 0 && first <= count - w;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    fetch_cross();
    vec4 sum = vec4(0.0);
    for (int k = 0; k < w; ++k) {
        // Windows 0 ... w - 1 hold the first of the two neighbours, windows 1 ... w the second one.
        vec2 rows = vec2(0.0), columns = vec2(0.0);
        for (int d = 1; d < w; ++d) {
            rows += is_window(d, texel.x, shape.y) ? ACROSS(d + k) : vec2(0.0);
            columns += is_window(d, texel.y, shape.x) ? DOWN(d + k) : vec2(0.0);
        }
        vec2 left = rows + (is_window(0, texel.x, shape.y) ? ACROSS(k) : vec2(0.0));
        vec2 right = rows + (is_window(w, texel.x, shape.y) ? ACROSS(w + k) : vec2(0.0));
        vec2 upper = columns + (is_window(0, texel.y, shape.x) ? DOWN(k) : vec2(0.0));
        vec2 lower = columns + (is_window(w, texel.y, shape.x) ? DOWN(w + k) : vec2(0.0));
        sum += vec4(left.x, right.x, left.y, right.y) * vec4(upper, lower);
    }
    result = without_padding(limited(sum), texel, shape);
}
