// A block of steps of forward or backward substitution, T X = B, in every matrix of a stack:
//
//     rows of the block  X = T[block, block]^-1 B[block]
//     rows still open    B[i] - T[i, block] X
//
// Every open fragment solves the block's rows of its own columns again, which is a triangle of STEPS x STEPS texels,
// instead of waiting for a pass for each of them.
// A fragment computes one 2x2 block of the right-hand sides of one matrix.
// T   stack of n x n triangles; only the lower or upper one is read, so the packed factors LU serve as both
// B   stack of what is left of the right-hand sides, from texel column `left` on, and the rows of X found so far
// X   stack of n x columns
// Cost per fragment: STEPS (STEPS + 5) / 2 fetches; 16 flop for each but B's; 4 STEPS divisions or none.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equation 4.34; Golub and Van Loan, "Matrix
// Computations", section 3.1 (blocks).

#ifndef STEPS
#define STEPS 4  // texel rows that a pass solves (1 to 8)
#endif
#if STEPS < 1 || STEPS > 8
#error STEPS must be 1 to 8
#endif
#define STACK 1

#include "lib/block_product.glsl"
#include "triangular/triangle.glsl"

uniform sampler2D B;
uniform int left;     // texel column of B that the right-hand sides begin in
uniform int t;        // texel row that is solved first
uniform int steps;    // texel rows to solve: STEPS, or what is left
uniform ivec2 shape;  // rows and columns of X

layout(location = 0) out vec4 result;

#ifdef SOFTWARE
#define EACH_STEP for (int s = 0; s < turns; ++s)
#else
#define EACH_STEP for (int s = 0; s < STEPS; ++s) if (s < turns)
#endif

int row_of(int step) {
#if UPPER
    return t - step;
#else
    return t + step;
#endif
}

void main() {
    ivec2 texel = own_texel();
    int distance = UPPER == 1 ? t - texel.y : texel.y - t;  // steps until it is this fragment's turn
    vec4 own = texelFetch(B, at(texel + ivec2(left, 0)), 0);
    if (distance >= 0) {
        int turns = min(distance + 1, steps);
        vec4 X[STEPS];
        EACH_STEP {
            vec4 x = texelFetch(B, at(ivec2(texel.x + left, row_of(s))), 0);
            for (int i = 0; i < s; ++i) x = subtract_block_product(x, block_of_T(row_of(s), row_of(i)), X[i]);
            X[s] = solved(x, block_of_T(row_of(s), row_of(s)));
            own = distance == s ? X[s] : subtract_block_product(own, block_of_T(texel.y, row_of(s)), X[s]);
        }
    }
    result = without_padding(own, texel, shape);
}
