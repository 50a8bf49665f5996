// Inner products of a column with all columns from it on, below its own row: the first half of a Householder step.
//
//     SECOND 0:  x . a_j,  x: column 2k below row 2k
//     SECOND 1:  y . b_j,  y: column 2k + 1 below row 2k + 1, b: the columns after the first reflector of the step,
//                which is applied on the way, to what is fetched
//
// A fragment sums one slice of two columns: (x . a_0, x . a_1, y . b_0, y . b_1), the last two zero at first.
// A   m x n, packed: what remains from texel (k, k) on
// D   the sums of the first of the two passes, if SECOND
// Cost per fragment: 2 fetches and 8 flop (SECOND: 2 fetches, 20 flop) per trip, ceil(m/2) trips in all slices.
// Golub and Van Loan, "Matrix computations" (2013), section 5.2.1; LAPACK geqr2.

#ifndef SECOND
#define SECOND 0  // which of the two columns of a pair (0, 1)
#endif

#include "qr/cascade.glsl"
#include "qr/reflector_pair.glsl"

uniform sampler2D A;
#if SECOND
uniform sampler2D D;
#endif
uniform ivec2 size;  // of A, in texels: height and width

flat in int k;       // texel column of the pair
flat in int slices;
flat in int chunk;   // texels of a slice

layout(location = 0) out vec4 sums;

void main() {
    ivec2 texel = own_texel();
    int start = k + texel.y * chunk;
    int end = min(start + chunk, size.x);
    Cascade sum = empty();
#if SECOND
    sums = texelFetch(D, at_second(texel), 0);
    First one = first_of(A, D, k, slices);
    vec2 t = taken(one, texelFetch(A, at(ivec2(texel.x, k)), 0).rg, dots(D, texel.x, slices).rg);
#endif
    for (int top = max(start, k + SECOND); top < end; top += AT_ONCE) {
        vec4 own[AT_ONCE];
        vec4 block[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) {
            own[i] = texelFetch(A, at(ivec2(k, min(top + i, end - 1))), 0);
            block[i] = texelFetch(A, at(ivec2(texel.x, min(top + i, end - 1))), 0);
        }
        for (int i = 0; i < AT_ONCE; ++i) {
            int y = top + i;
            if (y >= end) break;
#if SECOND
            vec2 v = own[i].rb * one.h.inverse;
            vec2 column = own[i].ga - v * one.t;
            add(sum, column.xxyy * (block[i] - v.xxyy * t.xyxy), y - start);
#else
            if (y == k) block[i].rg = vec2(0.0);
            add(sum, own[i].rrbb * block[i], y - start);
#endif
        }
    }
    vec2 found = total(sum).rg + total(sum).ba;
#if SECOND
    sums.ba = found;
#else
    sums = vec4(found, 0.0, 0.0);
#endif
}
