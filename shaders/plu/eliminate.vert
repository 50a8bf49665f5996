// The pivot rows of step k (the step of the pass), out of the candidates that the search has left, and the constants of
// their 2x2 block.

#include "lib/step_constants.glsl"
#include "lib/factor_pivots.glsl"

void main() {
    gl_Position = triangle_corner();
    int step = step_of_pass();
    share(step, ivec2(factor_pivots(ivec2(step, 0), step).xy), top + 2 * step);
}
