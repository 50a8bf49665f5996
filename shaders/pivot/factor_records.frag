// The records of all steps of a factorisation, or of one of its panels, gathered once it is done (no step waits for them).
//
// A fragment computes one texel of both targets, that of step k:
// pivots   (p, q, r, 0). p: row brought to row r = top + 2k; q: row that then is brought to the row below.
// health   (norm over panel entry, largest panel entry, norm, 0): what a pivot norm that looks at pairs of rows only has
//          let through. A panel entry is one of the column pair from row r down.
// candidates   one column of texels for each step, see lib/offer.glsl
// panel        with KEPT: records are in its texel column `column`, see plu/blocked/panel_step.frag
// Cost per fragment: a fetch for each candidate; with KEPT one.
// Fetches: KEPT + 8 * (1 - KEPT) to KEPT + (1 - KEPT) * ((candidates_height + 7) / 8 * 8 + 1).

#ifndef GEOMETRIC
#define GEOMETRIC 0  // norms are geometric means (1)
#endif
#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif
#ifndef KEPT
#define KEPT 0  // a panel keeps its records beside it (1)
#endif

#include "lib/pivots.glsl"

#if KEPT
uniform sampler2D panel;
uniform int column;
#else
uniform sampler2D candidates;
uniform int chunk;    // texels that one fragment has searched
uniform ivec2 shape;  // rows and columns of the panel's matrix
#endif

uniform int top;         // first row of the panel
uniform int first_step;  // texel of the records that belongs to column 0 of the panel

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 health;

void main() {
    int k = int(gl_FragCoord.x) - first_step;
#if KEPT
    vec4 found = texelFetch(panel, ivec2(column, (top >> 1) + k), 0);
#else
    vec4 found = factor_pivots(candidates, ivec2(k, 0), top + 2 * k, shape.x, chunk, PAIR == 1);
#endif
    pivots = vec4(found.xy, float(top + 2 * k), 0.0);
    float ratio = found.w == 0.0 ? 0.0 : found.z / found.w;
#if GEOMETRIC
    ratio *= ratio;
#endif
    health = vec4(ratio, found.w, found.z, 0.0);
}
