// C[16 rows, j] += A[16 rows, DEPTH] B[DEPTH, j]: one panel of A times one column of B.
//
// The panel is in a uniform block. All fragments read the same element of it at the same time, at an index that is a
// constant of the text, so that it is an operand of the multiplication and costs no instruction. One fetch of B brings
// four inner indices, 64 multiply-adds. The sum stays in 16 registers and goes to four targets, rows 4t to 4t+3 to
// target t. Longer inner dimensions take several passes; each goes on from the targets of the one before (CONTINUE), of
// which a fragment fetches its own texel alone: behind a barrier it may replace them.
//
// A fragment computes 16 rows of one column of C. Column j is at (j div STRIP, j mod STRIP) of a strip, one strip
// for each 16 rows.
// Panel   16 x DEPTH, see matmul/panels.frag      B   see matmul/strips.frag      C0 ... C3   the sums so far
// Cost per fragment: DEPTH / 4 fetches (4 more with CONTINUE), 32 DEPTH flop.
// Fetches: DEPTH / 4 + 4 * CONTINUE.
// The text of 16 x 96 multiply-adds fills the instruction cache of an NVIDIA H200; more is slower.

#ifndef DEPTH
#define DEPTH 96  // columns of a panel, a multiple of 16 up to 240
#endif
#ifndef CONTINUE
#define CONTINUE 0  // start from the sums of an earlier pass (0, 1)
#endif
#ifndef STRIP
#define STRIP 8  // height of a strip (8, 16)
#endif
#ifndef SUBTRACT
#define SUBTRACT 0  // C -= A B (0, 1)
#endif

#include "lib/repeat.glsl"

layout(std140) uniform Panel {
    vec4 panel[4 * DEPTH];
};
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C0;
uniform sampler2D C1;
uniform sampler2D C2;
uniform sampler2D C3;
#define SO_FAR(C) texelFetch(C, texel, 0)
#else
#define SO_FAR(C) vec4(0.0)
#endif
uniform int first;  // first strip of B

flat in ivec2 corner;  // first texel of the strip of C that is drawn

layout(location = 0) out vec4 rows0;
layout(location = 1) out vec4 rows4;
layout(location = 2) out vec4 rows8;
layout(location = 3) out vec4 rows12;

#if SUBTRACT
#define ADD -=
#else
#define ADD +=
#endif

#define RANK_ONE(k, b)                 \
    rows0 ADD panel[4 * (k)] * b;      \
    rows4 ADD panel[4 * (k) + 1] * b;  \
    rows8 ADD panel[4 * (k) + 2] * b;  \
    rows12 ADD panel[4 * (k) + 3] * b;

#define STEP(s)                                                 \
    {                                                           \
        vec4 b = texelFetch(B, start + ivec2(0, STRIP * s), 0); \
        RANK_ONE(4 * s, b.r)                                    \
        RANK_ONE(4 * s + 1, b.g)                                \
        RANK_ONE(4 * s + 2, b.b)                                \
        RANK_ONE(4 * s + 3, b.a)                                \
    }

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    // The strip begins at x = 0, yet `corner` is subtracted from both coordinates: with gl_FragCoord.x itself as the
    // coordinate of the fetch the compiler for an NVIDIA H200 makes this pass 1.7 times slower
    // (measured, see the experiments under benchmarks/results).
    ivec2 start = texel - corner + ivec2(0, STRIP * first);
    rows0 = SO_FAR(C0);
    rows4 = SO_FAR(C1);
    rows8 = SO_FAR(C2);
    rows12 = SO_FAR(C3);
#if (DEPTH & 128) != 0
    REPEAT_32(STEP, 0)
#endif
#if (DEPTH & 64) != 0
    REPEAT_16(STEP, (DEPTH & 128) / 4)
#endif
#if (DEPTH & 32) != 0
    REPEAT_8(STEP, (DEPTH & 192) / 4)
#endif
#if (DEPTH & 16) != 0
    REPEAT_4(STEP, (DEPTH & 224) / 4)
#endif
}
