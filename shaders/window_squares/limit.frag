// C = A within [0, limit]: the end of `frames`, whose sum is complete after the last frame only.
//
// A   rows x columns, packed      C   likewise
// Fetches: 1.

#define LIMITED 1
#include "window_squares/window.glsl"

layout(location = 0) out vec4 result;

void main() { result = limited(texelFetch(A, ivec2(gl_FragCoord.xy), 0)); }
