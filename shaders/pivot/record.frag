// The record of one step towards an echelon form: which rows it brings up, and how far the rank has come.
//
// A fragment computes both targets, one texel each:
// pivots   (p, q, rank before, rank after). p: row brought to row `rank before`; q: row that then is brought to the row
//          below. -1: the column has no pivot.
// health   (smallest norm over panel, largest panel entry, smallest norm, 0) of this step and all before: what a pivot
//          norm that looks at pairs of rows only has let through. A panel is a column pair from the pivot row down.
//          With one column at a time the norms are those of the pivots, and a panel entry is the sum of magnitudes in
//          a column of the rows already reduced.
//          A geometric norm is squared over the panel: the smaller of two pivots d1, d2 may be far below
//          sqrt(d1 d2), but not below d1 d2 / (2 panel), since neither is above 2 panel.
// candidates   count x 1      firsts   count x 1, those for column 2k when each column has its own search
// record, watched   the textures that hold the last step's record and health
// tolerance   1x1: absolute and relative, see pivot/threshold.glsl
// Cost per fragment: 1 or 2 fetches for each candidate, and 3.
// Fetches: (2 - PAIR) * ((count + 7) / 8 * 8) + 1 + 2 * (previous >= 0).

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1 with column 2k decided before (0)
#endif
#ifndef GEOMETRIC
#define GEOMETRIC 0  // norms are geometric means (1)
#endif

#include "lib/pivots.glsl"
#include "pivot/threshold.glsl"

#if PAIR == 0
uniform sampler2D firsts;
#endif
uniform sampler2D candidates;
uniform sampler2D tolerance;
uniform sampler2D record;
uniform sampler2D watched;
uniform int count;     // candidates
uniform int previous;  // texel of the step before; -1 at the first step

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 health;

void main() {
    vec4 best = best_candidate(candidates, ivec2(0), count);
    vec2 limit = texelFetch(tolerance, ivec2(0), 0).rg;
    float r = previous < 0 ? 0.0 : texelFetch(record, ivec2(previous, 0), 0).a;
#if PAIR
    bool accepted = best.x > limit.r;
    float p = accepted ? best.y : -1.0;
    float q = accepted ? best.z : -1.0;
#else
    vec4 leader = best_candidate(firsts, ivec2(0), count);
    float p = leader.x > threshold(limit, leader.w, r) ? leader.y : -1.0;
    float s = p < 0.0 ? r : r + 1.0;
    float q = best.x > threshold(limit, best.w, s) ? best.z : -1.0;
#endif
    pivots = vec4(p, q, r, r + (p < 0.0 ? 0.0 : 1.0) + (q < 0.0 ? 0.0 : 1.0));
    vec3 before = previous < 0 ? vec3(1.0, 0.0, 3.0e38) : texelFetch(watched, ivec2(previous, 0), 0).rgb;
#if PAIR
    float norm = max(best.x, 0.0);
    float largest = best.w;
#else
    float norm = min(p < 0.0 ? 3.0e38 : leader.x, q < 0.0 ? 3.0e38 : best.x);
    float largest = max(leader.w, best.w);
#endif
    float ratio = largest == 0.0 ? 0.0 : norm / largest;
#if GEOMETRIC
    ratio *= ratio;
#endif
    health = vec4(min(before.r, ratio), max(before.g, largest), min(before.b, norm), 0.0);
}
