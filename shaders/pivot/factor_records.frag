// The records of all steps of a factorised panel, gathered once it is done (no step waits for them).
//
// A fragment computes one texel of both targets, that of step k:
// pivots   (p, q, r, 0). p: row brought to row r = top + 2k; q: row that then is brought to the row below.
// health   (norm over panel entry, largest panel entry, norm, 0): what a pivot norm that looks at pairs of rows only has
//          let through. A panel entry is one of the column pair from row r down.
// firsts, candidates   one column of texels for each step, see pivot/measure.frag
// Cost per fragment: 2 fetches for each candidate.

#ifndef GEOMETRIC
#define GEOMETRIC 0  // norms are geometric means (1)
#endif

#include "lib/factor_pivots.glsl"

uniform int first_step;  // texel of the records that belongs to column 0 of the panel

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 health;

void main() {
    int k = int(gl_FragCoord.x) - first_step;
    vec4 found = factor_pivots(k);
    pivots = vec4(found.xy, float(top + 2 * k), 0.0);
    float ratio = found.w == 0.0 ? 0.0 : found.z / found.w;
#if GEOMETRIC
    ratio *= ratio;
#endif
    health = vec4(ratio, found.w, found.z, 0.0);
}
