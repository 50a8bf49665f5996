// X = T^-1 B for ROWS rows in one pass, T the triangle of these rows on the diagonal.
//
// A fragment computes one 2x2 block of X. It substitutes from the row where the substitution begins (the lowest, if T is
// upper triangular), so the fragments of later rows repeat what those of earlier ones do; that costs less than ROWS / 2
// passes that wait for each other.
// T   n x n, packed; only its lower or upper triangle is used, so the packed factors LU serve as both
// B   n x columns, packed: the right-hand sides, less the products with the blocks solved before
// Cost per fragment, h = ROWS / 2: up to h (h + 3) / 2 fetches, 8 h^2 flop, 4 h or no divisions.
// Fetches: 2 to ROWS / 2 * (ROWS / 2 + 3) / 2.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equation 4.34; LAPACK trtrs for the blocks.

#ifndef ROWS
#define ROWS 64  // rows of a block (16, 32, 64)
#endif
#ifndef UNROLL
#define UNROLL 0  // write the loop out (1): a GPU then keeps x in registers. Compiling that takes llvmpipe seconds.
#endif
#if ROWS != 16 && ROWS != 32 && ROWS != 64
#error ROWS must be 16, 32 or 64
#endif

#include "lib/packed.glsl"
#include "lib/block_product.glsl"
#include "lib/repeat.glsl"
#include "triangular/triangle.glsl"

uniform sampler2D B;
uniform int start;    // row of texels where the substitution begins
uniform ivec2 shape;  // rows and columns of B

layout(location = 0) out vec4 result;

// The row of texels that is solved at step t.
#if UPPER
#define ROW(t) (start - (t))
#else
#define ROW(t) (start + (t))
#endif

// Two more rows: subtract what the rows before contribute, then solve with the block on the diagonal.
#define STEP(t)                                                                          \
    if (last >= (t)) {                                                                   \
        own = texelFetch(B, ivec2(texel.x, ROW(t)), 0);                                  \
        for (int s = 0; s < (t); ++s) {                                                  \
            own = subtract_block_product(own, block_of_T(ROW(t), ROW(s)), x[s]);         \
        }                                                                                \
        own = solved(own, block_of_T(ROW(t), ROW(t)));                                   \
        x[t] = own;                                                                      \
    }

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int last = abs(texel.y - start);  // step that solves the fragment's own rows
    vec4 x[ROWS / 2];
    vec4 own = vec4(0.0);
#if UNROLL && ROWS == 64
    REPEAT_16(STEP, 0)
    REPEAT_16(STEP, 16)
#elif UNROLL && ROWS == 32
    REPEAT_16(STEP, 0)
#elif UNROLL
    REPEAT_8(STEP, 0)
#else
    for (int t = 0; t <= last; ++t) STEP(t)
#endif
    result = without_padding(own, texel, shape);
}
