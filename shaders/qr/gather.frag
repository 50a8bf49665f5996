// Rows of the matrices of a stack, one below the other: of each the first `height` texels, with UPPER R alone.
//
// A fragment copies one texel.
// S   the stack, packed
// Cost per fragment: 1 fetch.

#ifndef UPPER
#define UPPER 0  // zeros below the diagonal of each (0, 1)
#endif
#define STACK 1

#include "lib/packed.glsl"

uniform sampler2D S;
uniform int height;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int matrix = texel.y / height;
    int y = texel.y - matrix * height;
    result = texelFetch(S, at(ivec2(texel.x, y), matrix), 0);
#if UPPER
    if (y > texel.x) result = vec4(0.0);
    if (y == texel.x) result.b = 0.0;
#endif
}
