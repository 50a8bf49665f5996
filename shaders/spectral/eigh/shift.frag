// The reflectors of the tridiagonal form, a column to the right: each begins on the diagonal then, as those of QR do, and
// the passes of QR apply them.
//
// A fragment computes one 2x2 block.
// H   n x n, packed: the reflector of column k from row k + 1 on
// Cost per fragment: 2 fetches.
// Fetches: 2.

#ifndef TRANSPOSED
#define TRANSPOSED 0  // H holds the reflectors in columns (0), or in rows (1)
#endif

#include "lib/packed.glsl"

uniform sampler2D H;
uniform ivec2 shape;  // rows and columns of the result: n, n - 1

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 before = ivec2(max(texel.x - 1, 0), texel.y);
    vec4 own = texelFetch(H, TRANSPOSED == 1 ? texel.yx : texel, 0);
    vec4 left = texelFetch(H, TRANSPOSED == 1 ? before.yx : before, 0);
    if (TRANSPOSED == 1) own = own.rbga;
    if (TRANSPOSED == 1) left = left.rbga;
    if (texel.x == 0) left = vec4(0.0);
    result = without_padding(vec4(left.g, own.r, left.a, own.b), texel, shape);
}
