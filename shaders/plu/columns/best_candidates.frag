// Pivot search, later levels: the best of a rectangle of candidates. The last level leaves one, the pivot.
//
// A fragment computes one candidate, the best of `block` rows and columns of those before.
// candidates   `extent` rows and columns of texels, see plu/columns/candidate.glsl
// Cost per fragment: 1 fetch for each candidate of the rectangle.
// Fetches: 1 to block_x * block_y.
// Galoppo, Govindaraju, Henson and Manocha, "LU-GPU: Efficient algorithms for solving dense linear systems on graphics
// hardware" (2005).

#include "plu/columns/candidate.glsl"

uniform sampler2D candidates;
uniform int first;     // texel column where the results begin
uniform ivec2 block;   // rows and columns of candidates that one fragment compares
uniform ivec2 extent;  // rows and columns of candidates

layout(location = 0) out vec4 best;

void main() {
    ivec2 fragment = ivec2(gl_FragCoord.xy) - ivec2(first, 0);
    ivec2 begin = fragment * block.yx;
    ivec2 end = min(begin + block.yx, extent.yx);
    best = NO_CANDIDATE;
    for (int y = begin.y; y < end.y; ++y) {
        for (int x = begin.x; x < end.x; ++x) best = better(best, texelFetch(candidates, ivec2(x, y), 0));
    }
}
