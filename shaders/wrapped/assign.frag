// result = A, but result[first + k step] = B[k] for every k of a box of `count` elements.
//
// A fragment computes four elements, and asks of each dimension whether its coordinate is one of the box.
// A, B    wrapped; B is seen over the box      result   wrapped
// Cost per fragment: 4 fetches, 8 at most.

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A;
uniform SAMPLER B;
uniform int A_view[VIEW];
uniform int B_view[VIEW];
uniform int first[RANK];
uniform int step_[RANK];  // at least 1
uniform int count[RANK];

layout(location = 0) out RESULT result;

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    TEXEL own = seen(A, A_view);
    ivec4 place = ivec4(B_view[RANK]);
    bvec4 inside = bvec4(true);
    for (int d = 0; d < RANK; ++d) {
        ivec4 from = max(coordinates[d] - first[d], 0);
        ivec4 k = from / step_[d];
        for (int c = 0; c < 4; ++c) {
            inside[c] = inside[c] && coordinates[d][c] >= first[d] && k[c] * step_[d] == from[c] && k[c] < count[d];
        }
        place += k * B_view[d];
    }
    for (int c = 0; c < 4; ++c) {
        if (inside[c]) own[c] = element_of(B, place[c]);
    }
    result = without_spare(own);
}
