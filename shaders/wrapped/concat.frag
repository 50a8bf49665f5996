// result = A0, A1, ... one behind the other along a dimension.
//
// A fragment computes four elements, and asks of each in which part its coordinate lies. Parts are seen over the whole of
// the result, their offsets moved back by where they begin.
// A0, A1, ...   wrapped      result   wrapped
// Cost per fragment: 4 fetches.

#ifndef PARTS
#define PARTS 4  // operands (2, 4); those behind the last have no elements
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A0;
uniform SAMPLER A1;
#if PARTS > 2
uniform SAMPLER A2;
uniform SAMPLER A3;
#endif
uniform int views[PARTS * VIEW];  // strides and offset of each part
uniform int ends[PARTS];          // coordinate at which each part ends
uniform int axis;

layout(location = 0) out RESULT result;

ELEMENT part(int p, int i) {
#if PARTS > 2
    if (p == 2) return element_of(A2, i);
    if (p == 3) return element_of(A3, i);
#endif
    if (p == 1) return element_of(A1, i);
    return element_of(A0, i);
}

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    TEXEL texel = TEXEL(0);
    for (int c = 0; c < own_count(); ++c) {
        int p = 0;
        for (int q = 0; q < PARTS - 1; ++q) p += int(coordinates[axis][c] >= ends[q]);
        int place = views[p * VIEW + RANK];
        for (int d = 0; d < RANK; ++d) place += coordinates[d][c] * views[p * VIEW + d];
        texel[c] = part(p, place);
    }
    result = texel;
}
