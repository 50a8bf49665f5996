// y[i] = sum over the blocks of two rows: 2 x 2 blocks that are not all zero, a texel each, block row by block row.
//
// A fragment computes two block rows, which are four consecutive rows, one after the other.
// A         blocks (a00, a01, a10, a11)      columns  the block column of each, by its texel's place in x
// pointers  (first block, blocks) of two block rows      x, y  wrapped      before  CONTINUE: the sum over earlier blocks
// Cost per fragment: 1 fetch, and 3 and 8 flop for a block.
// Fetches: 1 to 1 + CONTINUE + 6 * trips_y - 6 * trips_x.
// Bell and Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).

#ifndef A_WIDTH
#define A_WIDTH 1  // texels in a row of A
#endif
#ifndef POINTERS
#define POINTERS 1  // texels of `pointers`
#endif
#ifndef POINTERS_WIDTH
#define POINTERS_WIDTH 1  // texels in a row of `pointers`
#endif

uniform sampler2D A;
uniform isampler2D columns;
uniform isampler2D pointers;
uniform sampler2D x;
uniform ivec2 trips;  // first block of a block row in this pass, and the one behind its last

layout(location = 0) out vec4 y;

#include "spmv/sparse.glsl"

vec2 block_row(ivec2 own) {
    int end = min(trips.y, own.g);
    vec2 sum = vec2(0.0);
    for (int j = trips.x; j < end; ++j) {
        ivec2 at = place_of(own.r + j, A_WIDTH);
        vec4 a = texelFetch(A, at, 0);
        int place = texelFetch(columns, at, 0).r;
        vec4 texel = texelFetch(x, ivec2((place >> 2) & 0x7fff, (place >> 17) & 0x7fff), 0);
        vec2 v = (place & 2) == 0 ? texel.rg : texel.ba;
        sum += vec2(term(a.r, v.r), term(a.b, v.r));
        sum += vec2(term(a.g, v.g), term(a.a, v.g));
    }
    return sum;
}

void main() {
    int t = own_texel();
    y = vec4(0.0);
    if (t >= POINTERS) return;
    ivec4 own = texelFetch(pointers, place_of(t, POINTERS_WIDTH), 0);
    y = vec4(block_row(own.rg), block_row(own.ba));
#if CONTINUE
    y += texelFetch(before, ivec2(gl_FragCoord.xy), 0);
#endif
}
