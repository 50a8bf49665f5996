// The trailing update of a blocked factorisation: A[16 rows, j] = (exchanged A)[16 rows, j] - L[16 rows, 64] U[64, j].
//
// The row exchange of the panel is part of it: a fragment fetches its rows where they stood. Most groups of four rows
// stay where they are, which is one fetch; otherwise four. L comes as a panel in a uniform block, U as strips, like the
// operands of matmul/panel_broadcast.frag.
//
// A fragment computes 16 rows of one column.
// S0 ... S3   the matrix before the step, see lib/strips.glsl      U   64 rows, four in a texel (strips/block_row.frag)
// Panel       16 x 64 of L, see matmul/panels.frag
// Cost per fragment: 20 to 32 fetches, 2048 flop.
// Fetches: 20 to 32.
// LAPACK getrf (gemm on the trailing matrix), with laswp fused in.

#include "lib/strips.glsl"
#include "lib/repeat.glsl"

layout(std140) uniform Panel {
    vec4 panel[256];
};
uniform sampler2D U;
uniform int height;    // rows of the matrix

flat in ivec2 corner;  // first texel of the strip that is drawn, at x = 0
flat in ivec4 source0;
flat in ivec4 source4;
flat in ivec4 source8;
flat in ivec4 source12;

layout(location = 0) out vec4 rows0;
layout(location = 1) out vec4 rows4;
layout(location = 2) out vec4 rows8;
layout(location = 3) out vec4 rows12;

vec4 gathered(ivec4 source, int i, int j) {
    if (source == ivec4(i, i + 1, i + 2, i + 3)) return four_rows(i >> 2, j);
    return vec4(i < height ? strip_element(source.r, j) : 0.0,
                i + 1 < height ? strip_element(source.g, j) : 0.0,
                i + 2 < height ? strip_element(source.b, j) : 0.0,
                i + 3 < height ? strip_element(source.a, j) : 0.0);
}

#define RANK_ONE(k, b)                \
    rows0 -= panel[4 * (k)] * b;      \
    rows4 -= panel[4 * (k) + 1] * b;  \
    rows8 -= panel[4 * (k) + 2] * b;  \
    rows12 -= panel[4 * (k) + 3] * b;

#define STEP(s)                                             \
    {                                                       \
        vec4 b = texelFetch(U, start + ivec2(0, 8 * s), 0); \
        RANK_ONE(4 * s, b.r)                                \
        RANK_ONE(4 * s + 1, b.g)                            \
        RANK_ONE(4 * s + 2, b.b)                            \
        RANK_ONE(4 * s + 3, b.a)                            \
    }

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * corner.y;
    ivec2 start = texel - corner;  // of both coordinates: see matmul/panel_broadcast.frag
    int j = 8 * start.x + start.y;
    rows0 = gathered(source0, i, j);
    rows4 = gathered(source4, i + 4, j);
    rows8 = gathered(source8, i + 8, j);
    rows12 = gathered(source12, i + 12, j);
    REPEAT_16(STEP, 0)
}
