// One step of running sums, or products: result[i] = A[i - back] + A[i] along a dimension, A[i] where that is too far.
//
// A fragment computes four elements. After steps of 1, 2, 4, ... each element is the sum of all up to it.
// A       wrapped, in C order      result   wrapped
// Cost per fragment: 5 fetches.
// Hillis and Steele, "Data parallel algorithms" (1986).

#ifndef PRODUCT
#define PRODUCT 0  // sums (0), or products (1)
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A;
uniform ivec3 line;  // elements along the dimension, elements from one of them to the next, how many steps back

layout(location = 0) out RESULT result;

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    TEXEL total = texel_of(A, own_texel_number());
    ivec4 own = own_elements();
    ivec4 along = own / line.y;
    along -= along / line.x * line.x;
    for (int c = 0; c < 4; ++c) {
        if (along[c] >= line.z) {
#if PRODUCT
            total[c] *= element_of(A, own[c] - line.z * line.y);
#else
            total[c] += element_of(A, own[c] - line.z * line.y);
#endif
        }
    }
    result = without_spare(total);
}
