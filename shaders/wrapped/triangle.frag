// result = A on one side of a diagonal of its last two dimensions, zero on the other.
//
// A fragment computes four elements.
// A   wrapped      result   wrapped
// Cost per fragment: 4 fetches.

#ifndef UPPER
#define UPPER 0  // keep what is below the diagonal (0), or above (1); the diagonal is kept
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A;
uniform int A_view[VIEW];
uniform int diagonal;  // 0 for the main one, more to the right

layout(location = 0) out RESULT result;

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    TEXEL own = seen(A, A_view);
    ivec4 right = coordinates[RANK - 1] - coordinates[RANK - 2] - diagonal;
    for (int c = 0; c < 4; ++c) {
        if (UPPER == 1 ? right[c] < 0 : right[c] > 0) own[c] = TEXEL(0).r;
    }
    result = without_spare(own);
}
