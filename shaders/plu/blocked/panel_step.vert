// The pivot rows of step k (the step of the pass) of a panel, out of their candidates, and the constants of their 2x2
// block.

#ifndef BESIDE
#define BESIDE 0  // the candidates stand beside the panel, where the step before has left them (1)
#endif

#include "plu/step_constants.glsl"
#include "lib/factor_pivots.glsl"

flat out vec4 record;  // (p, q, norm, largest entry seen)

void main() {
    gl_Position = triangle_corner();
    int step = step_of_pass();
#if BESIDE
    ivec2 first = ivec2((shape.y + 1) >> 1, (top >> 1) + step);
#else
    ivec2 first = ivec2(step, 0);
#endif
    record = factor_pivots(first, step);
    share(step, ivec2(record.xy), top + 2 * step);
}
