// (H, i, j, steps): the least depth of all cells, where it is, and the steps that went well; kept from the first dry cell on.
//
// A fragment looks at `chunk` x `chunk` cells (FIRST), or results of the pass before. NaN counts as dry. The last pass
// (LAST) has the record of the steps before: if its depth is not above zero it stays as it is, so the host reads which
// cell of which step was the first, whenever it looks.
// A       FIRST: state, (z, u, v, h) of each cell; else (H, i, j, -)
// record  LAST: of the steps before
// least   as A
// Cost per fragment: chunk^2 fetches, and 1.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction by rendering to ever smaller targets).

#ifndef FIRST
#define FIRST 1  // A is the state (0, 1)
#endif
#ifndef LAST
#define LAST 0  // one texel is left, and joins the record (0, 1)
#endif

#include "lib/ieee.glsl"

uniform sampler2D A;
#if LAST
uniform sampler2D record;
uniform float steps;  // that are done with this pass: 1, or 0 within a step
#endif
uniform int chunk;
uniform ivec2 size;   // texels of A across and down

layout(location = 0) out vec4 least;

void main() {
    ivec2 start = ivec2(gl_FragCoord.xy) * chunk;
    ivec2 end = min(start + chunk, size);
    vec4 found = vec4(INFINITY, 0.0, 0.0, 0.0);
    for (int y = start.y; y < end.y; ++y) {
        for (int x = start.x; x < end.x; ++x) {
            vec4 one = texelFetch(A, ivec2(x, y), 0);
#if FIRST
            float depth = one.a + one.r;
            bool bad = is_nan(depth) || is_infinite(depth) || is_nan(one.g + one.b);
            one = vec4(bad ? -INFINITY : depth, float(x), float(y), 0.0);
#endif
            if (one.r < found.r) found = one;
        }
    }
#if LAST
    vec4 before = texelFetch(record, ivec2(0), 0);
    found = before.r > 0.0 ? vec4(found.rgb, before.a + (found.r > 0.0 ? steps : 0.0)) : before;
#endif
    least = found;
}
