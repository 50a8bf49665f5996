// The packed layout: texel (x, y) of M holds the 2x2 block
//
//     r g      M[2y,   2x]  M[2y,   2x+1]
//     b a      M[2y+1, 2x]  M[2y+1, 2x+1]
//
// `element pair` means the two elements of one row that share a texel: (M[i, 2x], M[i, 2x+1]).

#include "lib/stack.glsl"

vec2 half_of(vec4 texel, int i) {
    return (i & 1) == 0 ? texel.rg : texel.ba;
}

vec2 row_pair(sampler2D M, int i, int x) {
    return half_of(texelFetch(M, at(ivec2(x, i >> 1)), 0), i);
}

// Zero whatever lies outside the matrix. Chosen, not multiplied: 0 * NaN is NaN.
vec4 without_padding(vec4 block, ivec2 texel, ivec2 shape) {  // shape: rows, columns
    bool last_row = 2 * texel.y + 1 >= shape.x;
    bool last_column = 2 * texel.x + 1 >= shape.y;
    return vec4(block.r,
                last_column ? 0.0 : block.g,
                last_row ? 0.0 : block.b,
                last_row || last_column ? 0.0 : block.a);
}
