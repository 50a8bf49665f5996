// A 2^-e with its largest entry in [1, 2): `mirror` and `scale` of a single matrix, for a stack; or A^T 2^-e.
//
// A        packed; of a symmetric one the lower half is read
// largest  a column of texels, see `largest`
// Cost per fragment: `height` + 1 fetches.

#ifndef WHOLE
#define WHOLE 0  // A is symmetric (0), or any matrix (1), whose transpose is made (2)
#endif

#include "spectral/jacobi/exponent.glsl"

uniform sampler2D A;
uniform sampler2D largest;
uniform int height;  // of A in texels

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = own_texel();
    bool turned = WHOLE == 0 ? own.x > own.y : WHOLE == 2;
    vec4 b = texelFetch(A, at(turned ? own.yx : own), 0);
    if (turned) b = b.rbga;
    if (WHOLE == 0 && own.x == own.y) b.g = b.b;
    int e = -matrix_exponent(largest, height);
    result = vec4(scaled(b.r, e), scaled(b.g, e), scaled(b.b, e), scaled(b.a, e));
}
