// C = P + A[:, slice] B[slice, :]: a part of a matrix product, of every matrix of a stack.
//
// A fragment computes four elements.
// A, B    wrapped, seen over C: the first element of their row, of their column
// P       FIRST 0: what the slices before came to      C   wrapped
// Cost per fragment: 8 fetches and 8 flop for each of the slice.

#ifndef FIRST
#define FIRST 1  // it is the first slice (0, 1)
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A;
uniform SAMPLER B;
#if FIRST == 0
uniform SAMPLER P;
#endif
uniform int A_view[VIEW];
uniform int B_view[VIEW];
uniform ivec4 slice;  // from, to, stride along the slice in A and in B

layout(location = 0) out RESULT C;

void main() {
    C = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    ivec4 a = places(A_view);
    ivec4 b = places(B_view);
    TEXEL total = TEXEL(0);
    for (int k = slice.x; k < slice.y; ++k) {
        total += elements_of(A, a + k * slice.z) * elements_of(B, b + k * slice.w);
    }
#if FIRST == 0
    total += texel_of(P, own_texel_number());
#endif
    C = without_spare(total);
}
