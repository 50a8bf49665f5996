// A function of three arrays, element by element: result[i] = C[i] ? A[i] : B[i], or A[i] kept between B[i] and C[i].
//
// A fragment computes four elements.
// A, B     wrapped, of one type, as is the result
// C        wrapped; a condition is of integers
// Cost per fragment: 3 fetches (RANK > 0: 12).

#ifndef CLIP
#define CLIP 0  // choose by a condition (0), or keep between two bounds (1)
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"
#include "lib/ieee.glsl"

uniform SAMPLER A;
uniform SAMPLER B;
#if INTEGER || CLIP == 0
uniform isampler2D C;
#define C_TEXEL ivec4
#define C_ELEMENT int
#else
uniform sampler2D C;
#define C_TEXEL vec4
#define C_ELEMENT float
#endif
uniform int A_view[VIEW];
uniform int B_view[VIEW];
uniform int C_view[VIEW];

layout(location = 0) out RESULT result;

int maximum_of(int a, int b) { return max(a, b); }
int minimum_of(int a, int b) { return min(a, b); }

ELEMENT of(ELEMENT a, ELEMENT b, C_ELEMENT c) {
#if CLIP
    return minimum_of(maximum_of(a, b), c);
#else
    return c == 0 ? b : a;
#endif
}

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    TEXEL a = seen(A, A_view);
    TEXEL b = seen(B, B_view);
    C_TEXEL c = seen(C, C_view);
    result = without_spare(TEXEL(of(a.r, b.r, c.r), of(a.g, b.g, c.g), of(a.b, b.b, c.b), of(a.a, b.a, c.a)));
}
