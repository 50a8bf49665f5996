// A function of an array, element by element: result[i] = f(A[i]).
//
// A fragment computes four elements. f is one of the functions that are included (OPERATION); `positive` copies, and so
// writes a view out.
// A   wrapped, seen as lib/wrapped.glsl says      result   wrapped
// Cost per fragment: 1 fetch (RANK > 0: 4).

#ifndef OPERATION
#define OPERATION positive_of  // name of the function
#endif

#include "lib/wrapped.glsl"
#include "wrapped/functions.glsl"

uniform SAMPLER A;
uniform int A_view[VIEW];

layout(location = 0) out RESULT result;

void main() {
    result = RESULT(0);
    if (is_spare()) return;
    locate_own();
    TEXEL a = seen(A, A_view);
    result = without_spare(RESULT(OPERATION(a.r), OPERATION(a.g), OPERATION(a.b), OPERATION(a.a)));
}
