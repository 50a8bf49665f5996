// A block of 16 rows of forward or backward substitution with a banded Cholesky factor, L Y = B or L^T X = Y:
//
//     rows of the block  X = D^-1 B[block]                  D the block on the diagonal, with BACKWARD its transpose
//     rows within reach  B[i] - L[i, block] X               with BACKWARD B[i] - L[block, i]^T X
//
// A fragment computes one 2x2 block of the right-hand sides. Every open fragment solves the block's rows of its own columns
// again, instead of waiting for a pass for them.
// L   a lower triangle as cholesky/banded.glsl has it
// B   rows solved so far, and what is left of the right-hand sides; packed
// Cost per fragment: up to 53 fetches, 800 flop and 32 divisions; of rows that are solved 1 fetch.
// Fetches: 0 to 53.
// LAPACK pbtrs.

#ifndef BACKWARD
#define BACKWARD 0  // solve with L (0), or with its transpose (1)
#endif

#include "lib/packed.glsl"
#include "lib/cholesky.glsl"
#include "lib/block_product.glsl"

uniform sampler2D L;
uniform sampler2D B;
uniform ivec2 block;  // first row of texels of the block, and their number
uniform ivec2 shape;  // rows and columns of B

layout(location = 0) out vec4 result;

const int SIDE = 8;  // of a block, in texels

vec4 block_of_L(int y, int x) {
    return texelFetch(L, at(ivec2(x, y - 8 * (x >> 3))), 0);
}

// A factor that was given may have a diagonal of any sign: L L^T is the same.
vec2 divided(vec2 row, float diagonal) {
    float size = abs(diagonal);
    vec2 found = vec2(below(row.x, size), below(row.y, size));
    return diagonal < 0.0 ? -found : found;
}

#if BACKWARD

#define ROW(s) (block.x + block.y - 1 - (s))  // row of texels that is solved s-th
#define COEFFICIENT(open, solved) block_of_L(solved, open).rbga

vec4 solved_block(vec4 rhs, vec4 D) {
    vec2 low = divided(rhs.ba, D.a);
    return vec4(divided(rhs.rg - D.b * low, D.r), low);
}

#else

#define ROW(s) (block.x + (s))
#define COEFFICIENT(open, solved) block_of_L(open, solved)

vec4 solved_block(vec4 rhs, vec4 D) {
    vec2 top = divided(rhs.rg, D.r);
    return vec4(top, divided(rhs.ba - D.b * top, D.a));
}

#endif

void main() {
    ivec2 texel = own_texel();
    vec4 open = texelFetch(B, at(texel), 0);
#if BACKWARD
    int turn = block.x + block.y - 1 - texel.y;  // when it is this fragment's turn; before the block: never
#else
    int turn = texel.y - block.x;
#endif
    result = open;
    if (turn < 0) return;
    vec4 X[SIDE];
    for (int s = 0; s < SIDE; ++s) {
        if (s > turn || s >= block.y) break;
        X[s] = texelFetch(B, at(ivec2(texel.x, ROW(s))), 0);
        for (int i = 0; i < s; ++i) X[s] = subtract_block_product(X[s], COEFFICIENT(ROW(s), ROW(i)), X[i]);
        X[s] = solved_block(X[s], block_of_L(ROW(s), ROW(s)));
        if (s == turn) {
            result = without_padding(X[s], texel, shape);
            return;
        }
        open = subtract_block_product(open, COEFFICIENT(texel.y, ROW(s)), X[s]);
    }
    result = without_padding(open, texel, shape);
}
