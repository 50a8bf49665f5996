// Shared by all pivot searches: the texels of the column pair (2k, 2k+1) that a fragment looks at, the pivots so far.
//
// A factorisation (FIXED) brings its pivots to rows top + 2k and the next, and each step has its own texel column of
// candidates. Its search begins below the rows that are done with. An echelon form moves down by as many rows as it has
// found pivots, so it reads the record of the step before. Its search also looks at the rows that are done with: their
// entries say how uncertain the others are, see pivot/threshold.glsl.

#ifndef FIXED
#define FIXED 1  // pivot rows are top + 2k and the next (1), or follow the rank found so far (0)
#endif

#include "lib/packed.glsl"
#include "lib/offer.glsl"

uniform sampler2D A;
uniform int chunk;     // texels that one fragment searches
uniform ivec2 shape;   // rows and columns of A
#if FIXED
uniform int top;       // first row of the panel
int k;                 // texel column of the panel: that of the fragment, each step has its own
#else
uniform sampler2D record;
uniform int previous;  // texel of the record of the step before; -1 at the first step
uniform int k;         // texel column of the matrix
#endif

int r;  // pivots so far, which is the row that the next one comes to

const int ROWS_AT_ONCE = 8;  // fetches under way at once, see lib/pivots.glsl

void begin_search() {
#if FIXED
    k = int(gl_FragCoord.x);
    r = top + 2 * k;
#else
    r = previous < 0 ? 0 : int(texelFetch(record, ivec2(previous, 0), 0).a);
#endif
}

void look_at_texel(int y, vec4 block);  // offers rows 2y and 2y+1; each search has its own

void look_at_all_texels() {
    int start = int(gl_FragCoord.y) * chunk;
#if FIXED
    start += (top >> 1) + k;
#endif
    int end = min(start + chunk, (shape.x + 1) >> 1);
    for (int y = start; y < end; y += ROWS_AT_ONCE) {
        vec4 some[ROWS_AT_ONCE];
        for (int i = 0; i < ROWS_AT_ONCE; ++i) some[i] = texelFetch(A, ivec2(k, min(y + i, end - 1)), 0);
        for (int i = 0; i < ROWS_AT_ONCE; ++i) {
            if (y + i < end) look_at_texel(y + i, some[i]);
        }
    }
}
