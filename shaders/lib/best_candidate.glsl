// The best of the first `count` pivot candidates (norm, p, q, w) in a column of texels; of equals the first, which has
// the smallest row, as in LAPACK's isamax. Their w are added up (WEIGHT), or the largest is kept.
//
// Every step of an elimination waits for this loop, and a single fragment cannot hide the time that a fetch takes: so
// eight are under way at once.

#ifndef WEIGHT
#define WEIGHT 0  // a candidate's w is a partial sum (1) or a maximum (0)
#endif

const int AT_ONCE = 8;

vec4 best_candidate(sampler2D candidates, int column, int count) {
    vec4 best = vec4(-1.0, -1.0, -1.0, 0.0);
    for (int y = 0; y < count; y += AT_ONCE) {
        vec4 some[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) some[i] = texelFetch(candidates, ivec2(column, min(y + i, count - 1)), 0);
        for (int i = 0; i < AT_ONCE; ++i) {
            if (y + i < count) {
#if WEIGHT
                best.w += some[i].w;
#else
                best.w = max(best.w, some[i].w);
#endif
                if (some[i].x > best.x) best.xyz = some[i].xyz;
            }
        }
    }
    return best;
}
