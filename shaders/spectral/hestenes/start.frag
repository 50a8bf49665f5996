// [ R^T ; I ]: the columns that are turned, and below them those that take part in every turn; [ A ; I ] of a stack.
//
// M       packed: R, square, or A
// result  packed, the identity from texel row `height` on
// Cost per fragment: 1 fetch.

#include "lib/packed.glsl"

uniform sampler2D M;
uniform int height;  // of the upper part in texels

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = own_texel();
    if (own.y < height) result = STACK == 1 ? texelFetch(M, at(own), 0) : texelFetch(M, own.yx, 0).rbga;
    else result = own.y - height == own.x ? vec4(1.0, 0.0, 0.0, 1.0) : vec4(0.0);
}
