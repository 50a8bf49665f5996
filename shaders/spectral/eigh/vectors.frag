// v and w of a step of the tridiagonal form, (v_2r, v_2r+1, w_2r, w_2r+1), and behind them (beta, 0, 0, 0).
//
// A fragment computes one texel. The change of A, whose fragments would derive them anew, has three fetches then.
// A   n x n, packed      D   y = A x and its sums (spectral/eigh/dots.frag)
// Cost per fragment: 3 fetches.
// Fetches: 0 to 3.

#include "spectral/eigh/pair.glsl"

uniform int last;  // texel behind the vectors

layout(location = 0) out vec4 result;

void main() {
    int r = int(gl_FragCoord.x);
    result = vec4(reflection.r, 0.0, 0.0, 0.0);
    if (r == last) return;
    vec2 v = v_of(r);
    result = vec4(v, w_of(r, v));
}
