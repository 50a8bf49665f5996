// C = A B, several blocks of C to a fragment: a texel fetched once serves a whole row or column of them.
//
// Fragment (x, y) computes the ROWS x COLUMNS texels of C whose first is (COLUMNS x, ROWS y). Each goes to a render
// target of its own, which so holds every ROWS-th row and COLUMNS-th column of texels; matmul/interleave.frag puts them
// together. With APART a target holds a part of C, to be copied to its place. The sums stay in registers.
// A   rows x inner, packed      B   inner x columns, packed
// With TRANSPOSE_A (TRANSPOSE_B) the texture holds the transpose, and a block is turned as it is fetched. With LOWER C is
// symmetric, and fragments beyond its diagonal have nothing to sum (with FOLDED there are few, see matmul/fold.glsl); with
// ONCE those on it take their columns from their rows. With UPPER A is upper triangular: sums begin at its diagonal.
// Cost per fragment: per trip ROWS + COLUMNS fetches and 16 ROWS COLUMNS flop; `count` trips.
// Fetches: (1 - LOWER) * (1 - UPPER) * (ROWS + COLUMNS) * count to (ROWS + COLUMNS) * count + ROWS * COLUMNS * CONTINUE.
// Jiang and Snir, "Automatic tuning matrix multiplication performance on graphics hardware" (2005).

#ifndef ROWS
#define ROWS 4  // texel rows of C in a fragment (1, 2, 4, 8)
#endif
#ifndef COLUMNS
#define COLUMNS 2  // texel columns of C in a fragment (1, 2, 4, 8)
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0  // A holds the transpose, inner x rows (0, 1)
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0  // B holds the transpose, columns x inner (0, 1)
#endif
#ifndef LOWER
#define LOWER 0  // all of C (0), or what is on and below its diagonal (1)
#endif
#ifndef ONCE
#define ONCE 0  // with LOWER: a fragment whose columns are among its rows fetches them once (0, 1)
#endif
#ifndef BUFFERS
#define BUFFERS 0  // A and B are buffers of texels, row by row, which a software rasteriser fetches faster (0, 1)
#endif
#ifndef APART
#define APART 0  // the blocks of a fragment are adjacent, or `apart`, so that each target holds a part of C (0, 1)
#endif
#ifndef ODD
#define ODD 0  // with APART: C has an odd number of rows or columns, so that its last texels have padding (0, 1)
#endif
#ifndef SUBTRACT
#define SUBTRACT 0  // C = start - A B instead, one product after the other taken from it, as in an elimination (0, 1)
#endif
#ifndef UPPER
#define UPPER 0  // all of A (0), or what is on and above its diagonal (1)
#endif
#ifndef EVEN
#define EVEN 0  // with UNROLL: `count` is a multiple of it, and no trips are left, whose text would be compiled (0, 1)
#endif
#ifndef LEVEL
#define LEVEL 0  // trips whose sum is added at once, see matmul/level.glsl; 0: all (0, 32)
#endif

#include "lib/block_product.glsl"
#include "lib/packed.glsl"
#include "matmul/fold.glsl"
#include "matmul/level.glsl"
#include "matmul/targets.glsl"
#include "matmul/unroll.glsl"

#if BUFFERS
uniform samplerBuffer A;
uniform samplerBuffer B;
uniform ivec2 widths;  // texels of a row of A, and of B
#else
uniform sampler2D A;
uniform sampler2D B;
#endif
#if SUBTRACT
uniform sampler2D start;  // rows x columns, packed
#define START(texel) texelFetch(start, texel, 0)
#define ADD subtract_block_product
#else
#define START(texel) vec4(0.0)
#define ADD add_block_product
#endif
#if APART
uniform ivec2 shape;  // rows and columns of C
uniform ivec2 corner;  // of what is drawn of C
uniform ivec2 apart;  // texels from one block to the next
#else
#define shape ivec2(0)
#define apart ivec2(1)
#define corner ivec2(0)
#endif
uniform int first;  // first texel of the inner dimension
uniform int count;  // texels of the inner dimension

#if BUFFERS
#define FETCH(M, width, at) texelFetch(M, (at).y * (width) + (at).x)
#else
#define FETCH(M, width, at) texelFetch(M, at, 0)
#endif
#define A_BLOCK(at) (TRANSPOSE_A == 1 ? FETCH(A, widths.x, at.yx).rbga : FETCH(A, widths.x, at))
#define B_BLOCK(at) (TRANSPOSE_B == 1 ? FETCH(B, widths.y, at.yx).rbga : FETCH(B, widths.y, at))

// With ONCE columns come out of the rows that were fetched; a computed index into registers would make memory of them.
#define FETCH_COLUMNS(u)                                                                                  \
    for (int j = 0; j < COLUMNS; ++j) {                                                                   \
        if (ONCE == 0 || own < 0) b[j] = B_BLOCK(ivec2(texel.x + j * apart.x, k + u));             \
        for (int i = 0; i < ROWS * ONCE; ++i) {                                                           \
            if (own >= 0 && i == own + j) b[j] = a[i].rbga;                                               \
        }                                                                                                 \
    }

#define STEP(u)                                                                                    \
    {                                                                                              \
        vec4 a[ROWS];                                                                              \
        vec4 b[COLUMNS];                                                                           \
        for (int i = 0; i < ROWS; ++i) a[i] = A_BLOCK(ivec2(k + u, texel.y + i * apart.y)); \
        FETCH_COLUMNS(u)                                                                           \
        for (int i = 0; i < ROWS; ++i) {                                                           \
            for (int j = 0; j < COLUMNS; ++j)                                                      \
                sum[i * COLUMNS + j] = ADD(sum[i * COLUMNS + j], a[i], b[j]);        \
        }                                                                                          \
    }

#define BLOCK(i) (texel + apart * ivec2(i % COLUMNS, i / COLUMNS))
#define LEVELS(trips) for (int i = 0; i < ROWS * COLUMNS; ++i) next_level(sum[i], levels[i], trips);

void main() {
    ivec2 texel = corner + unfolded(ivec2(gl_FragCoord.xy)) * (APART == 1 ? ivec2(1) : ivec2(COLUMNS, ROWS));
    vec4 sum[ROWS * COLUMNS];
    vec4 levels[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; ++i) {
        sum[i] = START(BLOCK(i));
        levels[i] = vec4(0.0);
    }
    int k = first;
    int end = first + count;
    if (UPPER == 1) k = max(k, texel.y);
    if (LOWER == 1 && texel.x >= texel.y + ROWS) end = first;
    int own = texel.x - texel.y;  // the first column among the rows, if all are there
    if (own + COLUMNS > ROWS) own = -1;
    for (; k + UNROLL <= end; k += UNROLL) {
        UNROLLED(STEP)
        LEVELS(k + UNROLL - first)
    }
#if EVEN == 0 && UNROLL > 1
    for (; k < end; ++k) {
        STEP(0)
        LEVELS(k + 1 - first)
    }
#endif
    for (int i = 0; i < ROWS * COLUMNS && LEVEL > 0; ++i) sum[i] += levels[i];
    for (int i = 0; i < ROWS * COLUMNS && ODD > 0; ++i) sum[i] = without_padding(sum[i], BLOCK(i), shape);
    PUT(sum)
}
