// The two pivot rows of a step of an elimination: which they are, where every row comes from once they are brought up,
// and the constants of their 2x2 block.

#ifndef WEIGHT
#define WEIGHT 0  // a candidate's w is a partial sum (1) or a maximum (0)
#endif
#ifndef AT_ONCE
#define AT_ONCE 8  // fetches under way at once
#endif

#ifndef STRIDE
#define STRIDE 1  // rows of texels from a candidate to the next
#endif

#include "lib/packed.glsl"
#include "lib/divide.glsl"

// The best of `count` candidates (norm, p, q, w) in a column of texels, from texel `top` on, see lib/offer.glsl; of equals
// the first, which has the smallest row, as in LAPACK's isamax. Their w are added up (WEIGHT), or the largest is kept.
//
// Every step of an elimination waits for this loop, and a single fragment cannot hide the time that a fetch takes: so
// AT_ONCE fetches are under way at once.
float named_first;  // p of the first candidate

vec4 best_candidate(sampler2D candidates, ivec2 top, int count) {
    vec4 best = vec4(-1.0, -1.0, -1.0, 0.0);
    for (int y = 0; y < count; y += AT_ONCE) {
        vec4 some[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) some[i] = texelFetch(candidates, top + ivec2(0, STRIDE * min(y + i, count - 1)), 0);
        if (y == 0) named_first = some[0].y;
        for (int i = 0; i < AT_ONCE; ++i) {
#if WEIGHT
            if (y + i < count) best.w += some[i].w;
#else
            best.w = max(best.w, some[i].w);  // behind the last candidate it comes again, and changes nothing
#endif
            if (some[i].x > best.x) best.xyz = some[i].xyz;
        }
    }
    return best;
}

// The pivots (p, q) of a factorisation's step, and in zw their norm and the largest entry seen: p comes to row r, what then
// is at row q to the row below. `first` is the texel of the first of `count` candidates. They are pairs of rows, or rows
// for column 2k+1, all of which name p. A column of zeros keeps its row.
vec4 winners(sampler2D candidates, ivec2 first, int count, int r, bool pairs) {
    vec4 best = best_candidate(candidates, first, count);
    float p = !pairs ? named_first : best.x > 0.0 ? best.y : float(r);
    bool second = best.x > 0.0 && (!pairs || best.z >= 0.0);
    return vec4(p, second ? best.z : float(r + 1), max(best.x, 0.0), best.w);
}

// The same, of candidates that are of `chunk` texels each, from row r on.
vec4 factor_pivots(sampler2D candidates, ivec2 first, int r, int rows, int chunk, bool pairs) {
    int height = ((rows + 1) >> 1) - (r >> 1);
    return winners(candidates, first, (height + chunk - 1) / chunk, r, pairs);
}

// The exchanges as a gather: a step brings row p to row r, and then what is at row q to row s. A fragment cannot
// scatter, so it asks backwards, last exchange first. An exchange of a row with itself does nothing.
int exchanged(int i, int a, int b) {
    return i == a ? b : (i == b ? a : i);
}

// Row of the old matrix that becomes row i.
int source_row(int i, int r, int p, int s, int q) {
    return exchanged(exchanged(i, s, q), r, p);
}

// (a, b, l, d') of the block of the pivot rows r and r+1, once they are brought up, in texel column k of A:
//
//     a b        a  b        l = c / a
//     c d   ->   l  d'       d' = d - l b
vec4 pivot_block(sampler2D A, int k, int r, ivec2 exchange) {
    vec2 upper = row_pair(A, source_row(r, r, exchange.x, r + 1, exchange.y), k);
    vec2 lower = row_pair(A, source_row(r + 1, r, exchange.x, r + 1, exchange.y), k);
    float l = multiplier(lower.x, upper.x);
    return vec4(upper, l, lower.y - l * upper.y);
}
