// A function of two arrays, element by element: result[i] = f(A[i], B[i]).
//
// A fragment computes four elements. f is one of the functions that are included (OPERATION).
// A, B   wrapped, of one type, seen as lib/wrapped.glsl says      result   wrapped
// Cost per fragment: 2 fetches (RANK > 0: 8).

#ifndef OPERATION
#define OPERATION add_of  // name of the function
#endif

#include "lib/wrapped.glsl"
#include "wrapped/functions.glsl"

uniform SAMPLER A;
uniform SAMPLER B;
uniform int A_view[VIEW];
uniform int B_view[VIEW];

layout(location = 0) out RESULT result;

void main() {
    result = RESULT(0);
    if (is_spare()) return;
    locate_own();
    TEXEL a = seen(A, A_view);
    TEXEL b = seen(B, B_view);
    result = without_spare(RESULT(OPERATION(a.r, b.r), OPERATION(a.g, b.g), OPERATION(a.b, b.b), OPERATION(a.a, b.a)));
}
