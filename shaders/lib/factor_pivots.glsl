// The two pivot rows of a step of a factorisation, out of the candidates that the search has left: p comes to row
// top + 2k, and what then stands at row q comes to the row below. A column of zeros keeps its row.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif

#include "lib/best_candidate.glsl"

uniform sampler2D candidates;
uniform int chunk;    // texels that one fragment has searched
uniform int top;      // first row of the panel
uniform ivec2 shape;  // rows and columns of the panel's matrix

int fragments(int k) {  // that have searched step k
    int height = ((shape.x + 1) >> 1) - (top >> 1) - k;
    return (height + chunk - 1) / chunk;
}

// (p, q), and in zw the norm and the largest entry seen; `first` is the texel of the first candidate.
vec4 factor_pivots(ivec2 first, int k) {
    int r = top + 2 * k;
    vec4 best = best_candidate(candidates, first, fragments(k));
#if PAIR
    bool accepted = best.x > 0.0;
    return vec4(accepted ? best.y : float(r), accepted && best.z >= 0.0 ? best.z : float(r + 1), max(best.x, 0.0), best.w);
#else
    float p = texelFetch(candidates, first, 0).y;
    return vec4(p, best.x > 0.0 ? best.z : float(r + 1), max(best.x, 0.0), best.w);
#endif
}
