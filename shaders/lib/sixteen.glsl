// 16 columns of a Cholesky factor in the registers of one fragment: the block D on the diagonal, and rows below it.
//
// Texel (x, y) of the columns, counted from the first one of D, stands at corner + (x, y) of A.

#ifndef AHEAD
#define AHEAD 0  // fetch and factor all of D, loops written out (0, 1): no fetch waits for another, arrays stay in registers
#endif

#include "lib/repeat.glsl"
#include "lib/stack.glsl"
#include "lib/cholesky.glsl"

uniform sampler2D A;
uniform ivec2 corner;  // first texel of the block on the diagonal

const int SIDE = 8;  // of the block, in texels

#define PLACE(y, x) ((y) * ((y) + 1) / 2 + (x))

vec4 l[SIDE * (SIDE + 1) / 2];  // D's factor, row by row of texels
vec4 own[SIDE];                 // a row of texels of L

#define FACTOR_ELEMENT(y, x)                                                                          \
    {                                                                                                 \
        vec4 block = l[PLACE(y, x)];                                                                  \
        for (int s = 0; s < (x); ++s) block = less_product(block, l[PLACE(y, s)], l[PLACE(x, s)]);    \
        l[PLACE(y, x)] = (x) == (y) ? factored(block) : divided_rows(block, l[PLACE(x, x)]);          \
    }
#define FACTOR_ROW(y) \
    for (int x = 0; x <= (y); ++x) FACTOR_ELEMENT(y, x)

// Factor D as far as texel `last` of its diagonal, or all of it (AHEAD).
void factor_block(int last) {
#if AHEAD
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x <= y; ++x) l[PLACE(y, x)] = texelFetch(A, at(corner + ivec2(x, y)), 0);
    }
    REPEAT_8(FACTOR_ROW, 0)
#else
    for (int y = 0; y <= last; ++y) {
        for (int x = 0; x <= y; ++x) {
            l[PLACE(y, x)] = texelFetch(A, at(corner + ivec2(x, y)), 0);
            FACTOR_ELEMENT(y, x)
        }
    }
#endif
}

#define SUBSTITUTE(x)                                                                           \
    {                                                                                           \
        vec4 block = own[x];                                                                    \
        for (int s = 0; s < (x); ++s) block = less_product(block, own[s], l[PLACE(x, s)]);      \
        own[x] = divided_rows(block, l[PLACE(x, x)]);                                           \
    }

// Row y of texels of L, below the diagonal, as far as texel `last`, or all of it (AHEAD): into `own`.
void substitute_row(int y, int last) {
#if AHEAD
    for (int x = 0; x < SIDE; ++x) own[x] = texelFetch(A, at(corner + ivec2(x, y)), 0);
    REPEAT_8(SUBSTITUTE, 0)
#else
    for (int x = 0; x <= last; ++x) {
        own[x] = texelFetch(A, at(corner + ivec2(x, y)), 0);
        SUBSTITUTE(x)
    }
#endif
}

// Texel x of a row of the block on the diagonal, or of `own`: with an index that the compiler knows (AHEAD).
vec4 on_diagonal(int x) {
#if AHEAD
    vec4 found = l[0];
    for (int i = 1; i < SIDE; ++i) {
        if (i == x) found = l[PLACE(i, i)];
    }
    return found;
#else
    return l[PLACE(x, x)];
#endif
}

vec4 of_row(int x) {
#if AHEAD
    vec4 found = own[0];
    for (int i = 1; i < SIDE; ++i) {
        if (i == x) found = own[i];
    }
    return found;
#else
    return own[x];
#endif
}
