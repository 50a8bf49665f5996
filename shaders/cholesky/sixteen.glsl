// 16 columns of a Cholesky factor in the registers of one fragment: the block D on the diagonal, and rows below it.
//
// Texel (x, y) of the columns, counted from the first one of D, is at corner + (x, y) of A.

#ifndef AHEAD
#define AHEAD 0  // fetch and factor all of D, loops written out, without divisions (0, 1): arrays stay in registers
#endif

#include "lib/repeat.glsl"
#include "lib/packed.glsl"
#include "lib/cholesky.glsl"
#include "cholesky/corner.glsl"

uniform sampler2D A;

const int SIDE = 8;  // of the block, in texels

#define PLACE(y, x) ((y) * ((y) + 1) / 2 + (x))

vec4 l[SIDE * (SIDE + 1) / 2];  // D's factor, row by row of texels
vec4 own[SIDE];                 // a row of texels of L

#if AHEAD
#define FACTOR_ROW(y)                                                                                       \
    {                                                                                                       \
        for (int x = 0; x < (y); ++x) {                                                                     \
            for (int s = 0; s < x; ++s)                                                                     \
                l[PLACE(y, x)] = less_product(l[PLACE(y, x)], l[PLACE(y, s)], l[PLACE(x, s)]);              \
            l[PLACE(y, x)] = divided_rows(l[PLACE(y, x)], l[PLACE(x, x)], reciprocals[x]);                  \
        }                                                                                                   \
        for (int s = 0; s < (y); ++s)                                                                       \
            l[PLACE(y, y)] = less_product(l[PLACE(y, y)], l[PLACE(y, s)], l[PLACE(y, s)]);                  \
        l[PLACE(y, y)] = factored(l[PLACE(y, y)], reciprocals[y]);                                          \
    }

// Factor all of D.
void factor_block() {
    vec4 reciprocals[SIDE];  // of D's diagonal, two of each element
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x <= y; ++x) l[PLACE(y, x)] = texelFetch(A, at(corner + ivec2(x, y)), 0);
    }
    REPEAT_8(FACTOR_ROW, 0)
}
#endif

// Factor D as far as texel `last` of its diagonal.
void factor_block(int last) {
    for (int y = 0; y <= last; ++y) {
        for (int x = 0; x <= y; ++x) {
            vec4 block = texelFetch(A, at(corner + ivec2(x, y)), 0);
            for (int s = 0; s < x; ++s) block = less_product(block, l[PLACE(y, s)], l[PLACE(x, s)]);
            l[PLACE(y, x)] = x == y ? factored(block) : divided_rows(block, l[PLACE(x, x)]);
        }
    }
}

// Row y of texels of L, below the diagonal, as far as texel `last`: into `own`.
void substitute_row(int y, int last) {
    for (int x = 0; x <= last; ++x) {
        vec4 block = texelFetch(A, at(corner + ivec2(x, y)), 0);
        for (int s = 0; s < x; ++s) block = less_product(block, own[s], l[PLACE(x, s)]);
        own[x] = divided_rows(block, l[PLACE(x, x)]);
    }
}
