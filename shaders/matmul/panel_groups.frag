// C[8 rows, 4 columns] += A[8 rows, DEPTH] B[DEPTH, 4 columns], for GROUPS groups of 8 rows in one pass.
//
// The uniform block holds the panels of GROUPS groups of rows. A fragment takes that of its own strip, so an element of
// it is read at a computed index: two fetches of it serve 32 multiply-adds, where matmul/panel_broadcast.frag has it for
// nothing, but draws once for each 16 rows and 96 inner indices. Here a pass has as many rows and inner indices as the
// block holds: a sixteenth of the draws, for devices on which issuing them takes longer than the arithmetic.
// The loop has 32 inner indices in a trip: the whole panel, written out, is more than an instruction cache holds.
//
// Column j stands at (j div STRIP, j mod STRIP) of a strip. A fragment at x computes columns of texels x, x + w, x + 2w
// and x + 3w, w the width of the target: neighbours read neighbours. Target 2c + h has rows 4h to 4h+3 of column c.
// Panel   GROUPS times 8 x DEPTH, see matmul/panels.frag   B   see matmul/strips.frag   C0 ... C7   the sums so far
// Cost per fragment: 32 trips fetches (8 more with CONTINUE), 2048 trips flop.
// Fetches: 32 * trips + 8 * CONTINUE.

#ifndef GROUPS
#define GROUPS 8  // groups of 8 rows in the block (2, 4, 8, 16, 32)
#endif
#ifndef DEPTH
#define DEPTH 256  // columns of a panel, a multiple of 32
#endif
#ifndef CONTINUE
#define CONTINUE 0  // start from the sums of an earlier pass (0, 1)
#endif
#ifndef STRIP
#define STRIP 8  // height of a strip (8, 16)
#endif

#include "lib/repeat.glsl"

layout(std140) uniform Panel {
    vec4 panel[GROUPS * 2 * DEPTH];
};
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C0;
uniform sampler2D C1;
uniform sampler2D C2;
uniform sampler2D C3;
uniform sampler2D C4;
uniform sampler2D C5;
uniform sampler2D C6;
uniform sampler2D C7;
#define SO_FAR(C) texelFetch(C, texel, 0)
#else
#define SO_FAR(C) vec4(0.0)
#endif
uniform int first;  // first strip of B
uniform int trips;  // 32 inner indices each
uniform int width;  // texels of a target across

flat in ivec2 corner;  // first texel of the strips of C that are drawn

layout(location = 0) out vec4 upper0;
layout(location = 1) out vec4 lower0;
layout(location = 2) out vec4 upper1;
layout(location = 3) out vec4 lower1;
layout(location = 4) out vec4 upper2;
layout(location = 5) out vec4 lower2;
layout(location = 6) out vec4 upper3;
layout(location = 7) out vec4 lower3;

#define RANK_ONE(k, c)                     \
    {                                      \
        vec4 upper = panel[at + 2 * (k)];  \
        vec4 lower = panel[at + 2 * (k) + 1]; \
        upper0 += upper * b0.c;            \
        lower0 += lower * b0.c;            \
        upper1 += upper * b1.c;            \
        lower1 += lower * b1.c;            \
        upper2 += upper * b2.c;            \
        lower2 += lower * b2.c;            \
        upper3 += upper * b3.c;            \
        lower3 += lower * b3.c;            \
    }

#define STEP(s)                                                             \
    {                                                                       \
        vec4 b0 = texelFetch(B, start + ivec2(0, STRIP * (s)), 0);          \
        vec4 b1 = texelFetch(B, start + ivec2(width, STRIP * (s)), 0);      \
        vec4 b2 = texelFetch(B, start + ivec2(2 * width, STRIP * (s)), 0);  \
        vec4 b3 = texelFetch(B, start + ivec2(3 * width, STRIP * (s)), 0);  \
        RANK_ONE(4 * (s), r)                                                \
        RANK_ONE(4 * (s) + 1, g)                                            \
        RANK_ONE(4 * (s) + 2, b)                                            \
        RANK_ONE(4 * (s) + 3, a)                                            \
    }

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    // `corner` is subtracted from both coordinates for the reason that matmul/panel_broadcast.frag gives.
    ivec2 start = texel - corner;
    int group = start.y / STRIP;
    start.y += STRIP * (first - group);
    int at = group * 2 * DEPTH;
    upper0 = SO_FAR(C0);
    lower0 = SO_FAR(C1);
    upper1 = SO_FAR(C2);
    lower1 = SO_FAR(C3);
    upper2 = SO_FAR(C4);
    lower2 = SO_FAR(C5);
    upper3 = SO_FAR(C6);
    lower3 = SO_FAR(C7);
    for (int trip = 0; trip < trips; ++trip) {
        REPEAT_8(STEP, 0)
        at += 64;
        start.y += 8 * STRIP;
    }
}
