// The best of `count` pivot candidates (norm, p, q, w); the first of equals. Their w are added up (WEIGHT), or the
// largest is kept.

uniform sampler2D candidates;
uniform int count;

vec4 best_candidate() {
    vec4 best = texelFetch(candidates, ivec2(0), 0);
    for (int y = 1; y < count; ++y) {
        vec4 other = texelFetch(candidates, ivec2(0, y), 0);
#if WEIGHT
        float w = best.w + other.w;
#else
        float w = max(best.w, other.w);
#endif
        if (other.x > best.x) best = other;
        best.w = w;
    }
    return best;
}
