// 16 columns of a Cholesky factor in the registers of one fragment: the block D on the diagonal, and rows below it.
//
// Texel (x, y) of the columns, counted from the first one of D, stands at corner + (x, y) of A.

#ifndef AHEAD
#define AHEAD 0  // fetch all of D before it is factored (0, 1): fetches that wait for each other are what a GPU waits for
#endif

#include "lib/stack.glsl"
#include "lib/cholesky.glsl"

uniform sampler2D A;
uniform ivec2 corner;  // first texel of the block on the diagonal

const int SIDE = 8;  // of the block, in texels

#define PLACE(y, x) ((y) * ((y) + 1) / 2 + (x))

vec4 l[SIDE * (SIDE + 1) / 2];  // D's factor, row by row of texels
vec4 own[SIDE];                 // a row of texels of L

// Factor D as far as texel `last` of its diagonal.
void factor_block(int last) {
#if AHEAD
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x <= y; ++x) l[PLACE(y, x)] = texelFetch(A, at(corner + ivec2(x, y)), 0);
    }
#endif
    for (int y = 0; y <= last; ++y) {
        for (int x = 0; x <= y; ++x) {
#if AHEAD
            vec4 block = l[PLACE(y, x)];
#else
            vec4 block = texelFetch(A, at(corner + ivec2(x, y)), 0);
#endif
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
