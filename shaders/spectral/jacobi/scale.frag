// A 2^-e, symmetric bit by bit, with its largest entry in [1, 2): `mirror` and `scale` of a single matrix, for a stack.
//
// A        packed; the lower half is read
// largest  a column of texels, see `largest`
// Cost per fragment: `height` + 1 fetches.

#include "spectral/jacobi/exponent.glsl"

uniform sampler2D A;
uniform sampler2D largest;
uniform int height;  // of A in texels

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = own_texel();
    bool above = own.x > own.y;
    vec4 b = texelFetch(A, at(above ? own.yx : own), 0);
    if (above) b = b.rbga;
    if (own.x == own.y) b.g = b.b;
    int e = -matrix_exponent(largest, height);
    result = vec4(scaled(b.r, e), scaled(b.g, e), scaled(b.b, e), scaled(b.a, e));
}
