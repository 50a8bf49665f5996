// Scalars of a Krylov method: sums over all texels of a small texture, and what a texel says that stops the iteration.

#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "lib/divide.glsl"
#include "lib/ieee.glsl"

#define RUNNING 0.0
#define CONVERGED 1.0
#define BREAKDOWN 2.0  // a direction without curvature, or a number that is none
#define STALLED 3.0  // the true residual gets no smaller

#define NO_LESS 1e-36  // squares of residuals below this are rounding errors, and may be flushed: they count as zero

vec4 folded(sampler2D sums, ivec2 first, ivec2 size) {
    vec4 total = vec4(0.0);
    for (int i = 0; i < size.x * size.y; i += AT_ONCE) {
        vec4 found[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) {
            int own = min(i + t, size.x * size.y - 1);
            found[t] = texelFetch(sums, first + ivec2(own % size.x, own / size.x), 0);
        }
        for (int t = 0; t < AT_ONCE; ++t)
            if (i + t < size.x * size.y) total += found[t];
    }
    return total;
}

vec4 folded(sampler2D sums) {
    return folded(sums, ivec2(0), textureSize(sums, 0));
}

bool is_positive(float a) {  // and finite: NaN compares as it likes on some drivers
    return is_finite(a) && a > 0.0;
}

bool is_small(float square, float bound) {
    return is_finite(square) && square <= max(bound, NO_LESS);
}
