// A function of two arrays, element by element: result[i] = f(A[i], B[i]).
//
// A fragment computes four elements. f is one of the functions that are included (OPERATION).
// A, B   wrapped, of one type, seen as lib/wrapped.glsl says      result   wrapped
// Cost per fragment: 2 fetches (RANK > 0: 8).

#ifndef OPERATION
#define OPERATION add_of  // name of the function
#endif
#ifndef INTEGER
#define INTEGER 0  // A and B hold integers (0, 1)
#endif
#ifndef FAMILY
#define FAMILY 0  // f is one of wrapped/integers.glsl or wrapped/floats.glsl (0), of trigonometric.glsl (1), hyperbolic.glsl (2)
#endif
#ifndef RESULT_INTEGER
#define RESULT_INTEGER 0  // the result does (0, 1)
#endif

#include "lib/wrapped.glsl"
#if INTEGER
#include "wrapped/integers.glsl"
#else
#include "wrapped/floats.glsl"
#endif
#if FAMILY == 1
#include "wrapped/trigonometric.glsl"
#elif FAMILY == 2
#include "wrapped/hyperbolic.glsl"
#endif

#if INTEGER
uniform isampler2D A;
uniform isampler2D B;
#define TEXEL ivec4
#else
uniform sampler2D A;
uniform sampler2D B;
#define TEXEL vec4
#endif
uniform int A_view[VIEW];
uniform int B_view[VIEW];

#if RESULT_INTEGER
layout(location = 0) out ivec4 result;
#define RESULT ivec4
#else
layout(location = 0) out vec4 result;
#define RESULT vec4
#endif

void main() {
    result = RESULT(0);
    if (is_spare()) return;
    locate_own();
    TEXEL a = seen(A, A_view);
    TEXEL b = seen(B, B_view);
    result = without_spare(RESULT(OPERATION(a.r, b.r), OPERATION(a.g, b.g), OPERATION(a.b, b.b), OPERATION(a.a, b.a)));
}
