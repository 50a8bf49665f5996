// The records of all steps of a factorisation, or of one of its panels, gathered once it is done (no step waits for them).
//
// A fragment computes one texel of both targets, that of step k:
// pivots   (p, q, r, 0). p: row brought to row r = top + 2k; q: row that then is brought to the row below.
// health   (norm over panel entry, largest panel entry, norm, 0): what a pivot norm that looks at pairs of rows only has
//          let through. A panel entry is one of the column pair from row r down.
// candidates   one column of texels for each step, see lib/offer.glsl
// P0, P1       with KEPT: even and odd steps have left records in their column RECORDS, see plu/blocked/panel_step.frag
// Cost per fragment: a fetch for each candidate; with KEPT two.
// Fetches: 2 * KEPT + 8 * (1 - KEPT) to 2 * KEPT + (1 - KEPT) * ((candidates_height + 7) / 8 * 8 + 1).

#ifndef GEOMETRIC
#define GEOMETRIC 0  // norms are geometric means (1)
#endif
#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif
#ifndef KEPT
#define KEPT 0  // panels keep their records beside them (1)
#endif

#include "lib/pivots.glsl"

#if KEPT
#include "plu/blocked/panel.glsl"

uniform sampler2D P0;
uniform sampler2D P1;
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
    vec4 even = texelFetch(P0, ivec2(P0_AT + RECORDS, (top >> 1) + k), 0);
    vec4 odd = texelFetch(P1, ivec2(P1_AT + RECORDS, (top >> 1) + k), 0);
    vec4 found = (k & 1) == 0 ? even : odd;
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
