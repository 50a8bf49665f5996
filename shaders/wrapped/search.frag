// result[i] = how many elements of the sorted array H are before A[i], or, with RIGHT, not behind it.
//
// A fragment searches for four elements, by bisection.
// A       wrapped      H   wrapped, one dimension      result   wrapped, integers
// Cost per fragment: 4 log2(length) fetches.

#ifndef RIGHT
#define RIGHT 0  // equal elements are not counted (0), or are (1)
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"
#include "wrapped/order.glsl"

uniform SAMPLER A;
uniform SAMPLER H;
uniform int A_view[VIEW];
uniform ivec3 line;  // length, stride and offset of H

layout(location = 0) out ivec4 result;

int place_for(ELEMENT a) {
    int low = 0;
    int high = line.x;
    while (low < high) {
        int middle = (low + high) / 2;
        ELEMENT h = element_of(H, line.z + middle * line.y);
        if (RIGHT == 1 ? !before(a, h) : before(h, a)) low = middle + 1;
        else high = middle;
    }
    return low;
}

void main() {
    result = ivec4(0);
    if (is_spare()) return;
    locate_own();
    TEXEL a = seen(A, A_view);
    for (int c = 0; c < own_count(); ++c) result[c] = place_for(a[c]);
}
