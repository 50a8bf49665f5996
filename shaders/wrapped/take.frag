// result[i] = A[i, but along one dimension the index I[i]].
//
// A fragment computes four elements. A negative index counts from the end; one that is out of range stops there.
// A, I    wrapped, seen over the result; A does not move along the dimension that is indexed
// result  wrapped
// Cost per fragment: 8 fetches.

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform isampler2D I;
uniform SAMPLER A;
uniform int A_view[VIEW];
uniform int I_view[VIEW];
uniform ivec2 along;  // length of the dimension that is indexed, and stride

layout(location = 0) out RESULT result;

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    ivec4 index = seen(I, I_view);
    index += along.x * ivec4(lessThan(index, ivec4(0)));
    index = clamp(index, 0, along.x - 1);
    result = without_spare(elements_of(A, places(A_view) + index * along.y));
}
