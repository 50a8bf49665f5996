// Elements chosen by a condition: result[i] = C[i] ? A[i] : B[i].
//
// A fragment computes four elements.
// A, B     wrapped, of one type, as is the result
// C        wrapped, of integers
// Cost per fragment: 3 fetches (RANK > 0: 12).

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A;
uniform SAMPLER B;
uniform isampler2D C;
uniform int A_view[VIEW];
uniform int B_view[VIEW];
uniform int C_view[VIEW];

layout(location = 0) out RESULT result;

ELEMENT of(ELEMENT a, ELEMENT b, int c) { return c == 0 ? b : a; }

void main() {
    result = TEXEL(0);
    if (is_spare()) return;
    locate_own();
    TEXEL a = seen(A, A_view);
    TEXEL b = seen(B, B_view);
    ivec4 c = seen(C, C_view);
    result = without_spare(TEXEL(of(a.r, b.r, c.r), of(a.g, b.g, c.g), of(a.b, b.b, c.b), of(a.a, b.a, c.a)));
}
