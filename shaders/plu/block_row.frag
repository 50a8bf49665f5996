// U = L^-1 R for the 64 rows of a panel: forward substitution, all of it in one pass.
//
// A fragment computes four rows of one column of U. It substitutes from the first row on, so the fragments of later rows
// repeat what those of earlier ones do; that costs less than 16 passes that wait for each other.
// R      64 rows, four in a texel (plu/pivot_rows.frag)      U   likewise
// Panel  the unit lower triangle L, as the first four panels of 16 rows in the layout of matmul/panels.frag
// Cost per fragment: up to 16 fetches and 4032 flop.
// LAPACK getrf (trsm on the block row).

#ifndef UNROLL
#define UNROLL 0  // write the loops out (1): a GPU then keeps u in registers. Compiling that takes llvmpipe a minute.
#endif

layout(std140) uniform Panel {
    vec4 panel[1024];
};
uniform sampler2D R;

layout(location = 0) out vec4 result;

// Rows 4t to 4t+3 of column k of L.
#define L(t, k) panel[256 * ((t) / 4) + 4 * (k) + (t) % 4]

// Four more rows of u: subtract what the rows before contribute, then substitute within the four.
#define FOUR_ROWS(t)                                              \
    if (last >= (t)) {                                            \
        vec4 v = texelFetch(R, start + ivec2(0, 8 * (t)), 0);     \
        for (int s = 0; s < (t); ++s) {                           \
            v -= L(t, 4 * s) * u[s].r;                            \
            v -= L(t, 4 * s + 1) * u[s].g;                        \
            v -= L(t, 4 * s + 2) * u[s].b;                        \
            v -= L(t, 4 * s + 3) * u[s].a;                        \
        }                                                         \
        v.gba -= L(t, 4 * (t)).gba * v.r;                         \
        v.ba -= L(t, 4 * (t) + 1).ba * v.g;                       \
        v.a -= L(t, 4 * (t) + 2).a * v.b;                         \
        u[t] = v;                                                 \
        result = v;                                               \
    }

#include "lib/repeat.glsl"

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int last = texel.y >> 3;
    ivec2 start = ivec2(texel.x, texel.y & 7);
    vec4 u[16];
#if UNROLL
    REPEAT_16(FOUR_ROWS, 0)
#else
    for (int t = 0; t <= last; ++t) FOUR_ROWS(t)
#endif
}
