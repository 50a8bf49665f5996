// A block of steps of forward or backward substitution, T X = B, of a matrix or in every one of a stack:
//
//     rows of the block  X = T[block, block]^-1 B[block]
//     rows still open    B[i] - T[i, block] X
//
// Every open fragment solves the block's rows of its own columns again, which is a triangle of STEPS x STEPS texels,
// instead of waiting for a pass for each of them. A GPU waits for fetches, not for arithmetic: all of them are under way
// at once, those for rows behind the fragment's own, too.
// A fragment computes one 2x2 block of the right-hand sides of one matrix.
// T   n x n, packed; only the lower or upper triangle is read, so the packed factors LU serve as both
// B   what is left of the right-hand sides, from texel column `left` on, and the rows of X found so far
// X   n x columns
// Cost per fragment: STEPS (STEPS + 5) / 2 fetches; 16 flop for each but B's; 4 STEPS divisions or none.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equation 4.34; Golub and Van Loan, "Matrix
// Computations", section 3.1 (blocks).

#ifndef STEPS
#define STEPS 4  // texel rows that a pass solves (4, 8)
#endif
#if STEPS != 4 && STEPS != 8
#error STEPS must be 4 or 8
#endif
#ifndef B_AT
#define B_AT 0  // column where B begins in one texture, see lib/sheet.glsl
#endif

#include "lib/block_product.glsl"
#include "lib/repeat.glsl"
#include "triangular/triangle.glsl"

uniform sampler2D B;
uniform int left;     // texel column of B that the right-hand sides begin in
uniform ivec2 shape;  // rows and columns of X

flat in int t;  // texel row that is solved first

layout(location = 0) out vec4 result;

#ifdef SOFTWARE  // waits for no fetch
#define RIGHT(s) block_of_B(texel.x, row_of(s))
#define BESIDE(s) block_of_T(texel.y, row_of(s))
#define INSIDE(s, i) block_of_T(row_of(s), row_of(i))
#define EACH_STEP(STEP) for (int s = 0; s < turns; ++s) STEP(s)
#else
#define RIGHT(s) x[s]
#define BESIDE(s) beside[s]
#define INSIDE(s, i) inside[STEPS * (s) + (i)]
#if STEPS == 8
#define EACH_STEP(STEP) REPEAT_8(STEP, 0)
#else
#define EACH_STEP(STEP) REPEAT_4(STEP, 0)
#endif
#endif

#define FETCH(s)                                 \
    x[s] = block_of_B(texel.x, row_of(s));       \
    beside[s] = block_of_T(texel.y, row_of(s));  \
    for (int i = 0; i <= (s); ++i) inside[STEPS * (s) + i] = block_of_T(row_of(s), row_of(i));

#define SOLVE(s) {                                                                                         \
        vec4 row = RIGHT(s);                                                                               \
        for (int i = 0; i < (s); ++i) row = subtract_block_product(row, INSIDE(s, i), x[i]);               \
        x[s] = solved(row, INSIDE(s, s));                                                                  \
        if ((s) <= distance) own = distance == (s) ? x[s] : subtract_block_product(own, BESIDE(s), x[s]);  \
    }

int row_of(int step) {
    return UPPER == 1 ? max(t - step, 0) : min(t + step, (shape.x - 1) / 2);
}

vec4 block_of_B(int x, int y) {
    return texelFetch(B, at(ivec2(x + left, y)) + ivec2(B_AT, 0), 0);
}

void main() {
    ivec2 texel = own_texel();
    int distance = UPPER == 1 ? t - texel.y : texel.y - t;  // steps until it is this fragment's turn
    vec4 own = block_of_B(texel.x, texel.y);
    if (distance >= 0) {
        int turns = min(distance + 1, STEPS);
        vec4 x[STEPS];
#ifndef SOFTWARE
        vec4 beside[STEPS];
        vec4 inside[STEPS * STEPS];
        EACH_STEP(FETCH)
#endif
        EACH_STEP(SOLVE)
    }
    result = without_padding(own, texel, shape);
}
