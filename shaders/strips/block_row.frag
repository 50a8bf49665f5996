// U = L^-1 R for the 64 rows of a panel: forward substitution in one pass, or in two, for 32 rows each.
//
// A fragment computes four rows of one column of U. It substitutes from the first row on, so the fragments of later rows
// repeat what those of earlier ones do; that costs less than 16 passes that wait for each other. In two passes they do a
// quarter of that: the first one also subtracts its rows of U from the others.
// R      64 rows, four in a texel (plu/blocked/pivot_rows.frag), or S0 ... S3, see lib/strips.glsl
// U      64 rows, four in a texel
// Panel  the lower triangle L, as the first four panels of 16 rows in the layout of matmul/panels.frag
// Cost per fragment: up to 16 fetches and 4032 flop, 64 or no divisions.
// Fetches: 1 to 16.
// LAPACK getrf (trsm on the block row).

#ifndef UNIT
#define UNIT 1  // L has ones on its diagonal, not stored (0, 1)
#endif
#ifndef STRIPS
#define STRIPS 0  // the rows come out of a matrix in the strip layout (0, 1)
#endif
#ifndef FIRST
#define FIRST 0  // four rows that are solved first; those before them are solved, and subtracted from R already
#endif
#ifndef QUADS
#define QUADS 16  // four rows each that are solved (8, 16); what they contribute to those behind is subtracted
#endif
#ifndef UNROLL
#define UNROLL 0  // write the loops out (1): a GPU then keeps u in registers. Compiling that takes llvmpipe a minute.
#endif

#include "lib/divide.glsl"
#include "lib/repeat.glsl"

layout(std140) uniform Panel {
    vec4 panel[1024];
};
#if STRIPS
#include "lib/strips.glsl"

uniform int group;  // group of 16 rows in which the 64 begin
#else
uniform sampler2D R;
#endif

layout(location = 0) out vec4 result;

// Rows 4t to 4t+3 of column k of L.
#define L(t, k) panel[256 * ((t) / 4) + 4 * (k) + (t) % 4]

vec4 right_hand_side(ivec2 start, int t) {  // rows 4t to 4t+3 of R; start: texel of the first
#if STRIPS
    return strip_quad(t & 3, start + ivec2(0, 8 * (group + (t >> 2))));
#else
    return texelFetch(R, start + ivec2(0, 8 * t), 0);
#endif
}

float divided(float a, float diagonal) {
#if UNIT
    return a;
#else
    return multiplier(a, diagonal);
#endif
}

// Four more rows of u: subtract what the rows before contribute, then substitute within the four.
#define FOUR_ROWS(t)                                              \
    if (last >= (t)) {                                            \
        vec4 v = right_hand_side(start, (t));                     \
        for (int s = FIRST; s < (t); ++s) {                       \
            v -= L(t, 4 * s) * u[s].r;                            \
            v -= L(t, 4 * s + 1) * u[s].g;                        \
            v -= L(t, 4 * s + 2) * u[s].b;                        \
            v -= L(t, 4 * s + 3) * u[s].a;                        \
        }                                                         \
        v.r = divided(v.r, L(t, 4 * (t)).r);                      \
        v.gba -= L(t, 4 * (t)).gba * v.r;                         \
        v.g = divided(v.g, L(t, 4 * (t) + 1).g);                  \
        v.ba -= L(t, 4 * (t) + 1).ba * v.g;                       \
        v.b = divided(v.b, L(t, 4 * (t) + 2).b);                  \
        v.a -= L(t, 4 * (t) + 2).a * v.b;                         \
        v.a = divided(v.a, L(t, 4 * (t) + 3).a);                  \
        u[t] = v;                                                 \
        result = v;                                               \
    }

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int own = texel.y >> 3;
    int last = min(own, FIRST + QUADS - 1);
    ivec2 start = ivec2(texel.x, texel.y & 7);
    vec4 u[16];
#if UNROLL && QUADS == 8
    REPEAT_8(FOUR_ROWS, FIRST)
#elif UNROLL
    REPEAT_16(FOUR_ROWS, FIRST)
#else
    for (int t = FIRST; t <= last; ++t) FOUR_ROWS(t)
#endif
#if QUADS < 16
    if (last == own && own >= FIRST) return;
    vec4 v = right_hand_side(start, own);
    for (int s = FIRST; s < FIRST + QUADS && own > last; ++s) {
        v -= L(own, 4 * s) * u[s].r;
        v -= L(own, 4 * s + 1) * u[s].g;
        v -= L(own, 4 * s + 2) * u[s].b;
        v -= L(own, 4 * s + 3) * u[s].a;
    }
    result = v;
#endif
}
