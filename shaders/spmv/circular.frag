// y[i] = sum over d of A_d[i] x[(i + o_d) mod n]: diagonals -k and n - k of a square matrix joined to one of length n.
//
// A fragment computes four consecutive rows. Behind the end of x the diagonal goes on from its beginning, which need not
// be the beginning of a texel: elements are fetched one by one.
// A       diagonals as in `diagonals.frag`        x, y    wrapped        before  CONTINUE: the sum over earlier ones
// Cost per fragment: 5 fetches for a diagonal, 8 flop.
// Fetches: 5 * COUNT + CONTINUE.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 3.1.2, figure 3.3a.

#ifndef COUNT
#define COUNT 1  // diagonals of this pass
#endif
#ifndef TERMS
#define TERMS TERM(0, 0)  // TERM(number, offset) of each of them, offsets from 0
#endif
#ifndef GRID
#define GRID 1  // diagonals side by side
#endif
#ifndef HEIGHT
#define HEIGHT 1  // texels in a column of the result
#endif
#ifndef ORDER
#define ORDER 1  // rows, n
#endif

uniform sampler2D A;
uniform sampler2D x;

layout(location = 0) out vec4 y;

#include "spmv/sparse.glsl"

float around(int i) {
    if (i >= ORDER) i -= ORDER;
    i = clamp(i, 0, ORDER - 1);  // rows behind the last meet zeros of A
    int t = i >> 2;
    return texelFetch(x, ivec2(t - t / WIDTH * WIDTH, t / WIDTH), 0)[i & 3];
}

vec4 window(int i) {
    return vec4(around(i), around(i + 1), around(i + 2), around(i + 3));
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    int i = 4 * own_texel();
    y = vec4(0.0);
#if CONTINUE
    y = texelFetch(before, own, 0);
#endif
#define TERM(d, o) y += terms(texelFetch(A, own + ivec2((d) % GRID * WIDTH, (d) / GRID * HEIGHT), 0), window(i + (o)));
    TERMS
}
