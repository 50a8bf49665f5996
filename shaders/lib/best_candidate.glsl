// The best of `count` pivot candidates (norm, p, q, w) in a column of texels, from texel `top` on; of equals the first,
// which has the smallest row, as in LAPACK's isamax. Their w are added up (WEIGHT), or the largest is kept.
//
// Every step of an elimination waits for this loop, and a single fragment cannot hide the time that a fetch takes: so
// AT_ONCE fetches are under way at once.

#ifndef WEIGHT
#define WEIGHT 0  // a candidate's w is a partial sum (1) or a maximum (0)
#endif
#ifndef AT_ONCE
#define AT_ONCE 8  // fetches under way at once
#endif

vec4 best_candidate(sampler2D candidates, ivec2 top, int count) {
    vec4 best = vec4(-1.0, -1.0, -1.0, 0.0);
    for (int y = 0; y < count; y += AT_ONCE) {
        vec4 some[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) some[i] = texelFetch(candidates, top + ivec2(0, min(y + i, count - 1)), 0);
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
