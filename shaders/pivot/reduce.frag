// Pivot search, second level: the best of all candidates.
//
// A fragment reads every candidate and keeps the best. Of equals the first wins, which is the one with the smallest
// row, as in LAPACK's isamax.
// candidates   count x 1, as pivot/measure.frag writes them      winner   1x1
// Cost per fragment: `count` fetches.

#ifndef WEIGHT
#define WEIGHT 0  // a candidate's w is a partial sum (1) or a maximum (0)
#endif

#include "lib/best_candidate.glsl"

layout(location = 0) out vec4 winner;

void main() {
    winner = best_candidate();
}
