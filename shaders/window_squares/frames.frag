// C += squares of the windows of one frame: the rows top ... top + w - 1 of A, all windows of w x w elements in them.
//
// The source launches a kernel for each frame, one after the other, whose threads add their windows to C atomically. A
// pass for each frame, added by float blending, is that in a fixed order. A fragment computes a 2x2 block of the frame,
// and adds nothing to a row outside of it.
// A   rows x columns, packed      C   likewise
// Cost per fragment: up to w + 1 windows, each of 2 w fetches and 8 w flop.
// "Dense matrix multiplication" (aksoyyusuf, CUDA), section "Designing the Solution", figures 3 to 8.

#include "window_squares/window.glsl"

uniform int w;        // rows and columns of a window
uniform int top;      // first row of the frame
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y, j = 2 * texel.x;
    vec4 sum = vec4(0.0);
    for (int left = max(0, j - w + 1); left <= min(shape.y - w, j + 1); ++left) {
        vec4 square = vec4(0.0);
        for (int k = 0; k < w; ++k) square += in_own_rows(left + k).xxyy * in_own_columns(top + k).xyxy;
        bvec2 columns = bvec2(left <= j, j + 1 < left + w);
        sum += vec4(columns.x ? square.r : 0.0, columns.y ? square.g : 0.0,
                    columns.x ? square.b : 0.0, columns.y ? square.a : 0.0);
    }
    bvec2 rows = bvec2(top <= i && i < top + w, top <= i + 1 && i + 1 < top + w);
    vec4 own = vec4(rows.x ? sum.rg : vec2(0.0), rows.y ? sum.ba : vec2(0.0));
    result = without_padding(own, texel, shape);
}
