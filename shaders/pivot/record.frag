// The record of one step: which rows it brings up, and how far the rank has come.
//
// A fragment computes both targets, one texel each:
// pivots   (p, q, rank before, rank after). p: row brought to row `rank before`; q: row that then is brought to the row
//          below. -1: the column has no pivot. With FIXED, p and q are always rows (a row may stay where it is), and
//          the rank runs 2k, 2k+2.
// health   (smallest norm over panel, largest panel entry, smallest norm, 0) of this step and all before: what a pivot
//          norm that looks at pairs of rows only has let through. A panel is a column pair from the pivot row down.
//          A geometric norm is squared over the panel: the smaller of two pivots d1, d2 may be far below
//          sqrt(d1 d2), but not below d1 d2 / (2 panel), since neither is above 2 panel.
// candidates   count x 1      first   1x1, the winner for column 2k when each column has its own search
// record, watched   the textures that hold the last step's record and health
// tolerance   1x1: absolute and relative, see lib/threshold.glsl
// Cost per fragment: `count` + 4 fetches.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1 with column 2k decided before (0)
#endif
#ifndef FIXED
#define FIXED 1  // pivot rows are 2k and 2k+1 (1), or follow the rank found so far (0)
#endif
#ifndef WEIGHT
#define WEIGHT 0  // a candidate's w is a partial sum (1) or a maximum (0)
#endif

#ifndef GEOMETRIC
#define GEOMETRIC 0  // norms are geometric means (1)
#endif

#include "lib/best_candidate.glsl"
#include "lib/threshold.glsl"

#if PAIR == 0
uniform sampler2D first;
#endif
uniform sampler2D tolerance;
#if FIXED == 0
uniform sampler2D record;
#endif
uniform sampler2D watched;
uniform int previous;  // texel of the step before; -1 at the first step
uniform int k;         // texel column of the panel

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 health;

void main() {
    vec4 best = best_candidate();
    vec2 limit = texelFetch(tolerance, ivec2(0), 0).rg;
#if FIXED
    float r = float(2 * k);
#else
    float r = previous < 0 ? 0.0 : texelFetch(record, ivec2(previous, 0), 0).a;
#endif
#if PAIR
    bool accepted = best.x > limit.r;
    float p = accepted ? best.y : -1.0;
    float q = accepted ? best.z : -1.0;
#else
    vec4 leader = texelFetch(first, ivec2(0), 0);
    float p = leader.x > threshold(limit, leader.w, r) ? leader.y : -1.0;
    float s = p < 0.0 ? r : r + 1.0;
    float q = best.x > threshold(limit, best.w, s) ? best.z : -1.0;
#endif
#if FIXED
    pivots = vec4(p < 0.0 ? r : p, q < 0.0 ? r + 1.0 : q, r, r + 2.0);
#else
    pivots = vec4(p, q, r, r + (p < 0.0 ? 0.0 : 1.0) + (q < 0.0 ? 0.0 : 1.0));
#endif
    vec3 before = previous < 0 ? vec3(1.0, 0.0, 3.0e38) : texelFetch(watched, ivec2(previous, 0), 0).rgb;
    float norm = max(best.x, 0.0);
    float ratio = best.w == 0.0 ? 0.0 : norm / best.w;
#if GEOMETRIC
    ratio *= ratio;
#endif
    health = vec4(min(before.r, ratio), max(before.g, best.w), min(before.b, norm), 0.0);
}
