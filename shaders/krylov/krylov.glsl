// Scalars of a Krylov method: sums over all texels of a small texture, and what a texel says that stops the iteration.

#include "lib/divide.glsl"
#include "lib/ieee.glsl"

#define RUNNING 0.0
#define CONVERGED 1.0
#define BREAKDOWN 2.0  // a direction without curvature, or a number that is none
#define STALLED 3.0  // the true residual gets no smaller

#define NO_LESS 1e-36  // squares of residuals below this are rounding errors, and may be flushed: they count as zero

vec4 folded(sampler2D sums) {
    vec4 total = vec4(0.0);
    ivec2 size = textureSize(sums, 0);
    for (int y = 0; y < size.y; ++y)
        for (int x = 0; x < size.x; ++x) total += texelFetch(sums, ivec2(x, y), 0);
    return total;
}

bool is_positive(float a) {  // and finite: NaN compares as it likes on some drivers
    return is_finite(a) && a > 0.0;
}

bool is_small(float square, float bound) {
    return is_finite(square) && square <= max(bound, NO_LESS);
}
