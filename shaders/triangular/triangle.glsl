// A triangular matrix T, packed, block by block, and the solution of the 2x2 blocks on its diagonal.
//
// Only its own triangle is used, so the packed factors LU serve as both.

#ifndef UPPER
#define UPPER 0  // T is upper triangular: substitute backward (0, 1)
#endif
#ifndef UNIT
#define UNIT 0  // T has ones on its diagonal, not stored (0, 1)
#endif
#ifndef TRANSPOSED
#define TRANSPOSED 0  // T is the transpose of what is stored (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/divide.glsl"

uniform sampler2D T;

vec4 block_of_T(int y, int x) {
#if TRANSPOSED
    return texelFetch(T, at_second(ivec2(y, x)), 0).rbga;
#else
    return texelFetch(T, at_second(ivec2(x, y)), 0);
#endif
}

vec2 divided(vec2 row, float diagonal) {
#if UNIT
    return row;
#else
    return vec2(multiplier(row.x, diagonal), multiplier(row.y, diagonal));
#endif
}

// D^-1 rhs for a block D of the diagonal.
vec4 solved(vec4 rhs, vec4 D) {
#if UPPER
    vec2 low = divided(rhs.ba, D.a);
    vec2 top = divided(rhs.rg - D.g * low, D.r);
#else
    vec2 top = divided(rhs.rg, D.r);
    vec2 low = divided(rhs.ba - D.b * top, D.a);
#endif
    return vec4(top, low);
}
