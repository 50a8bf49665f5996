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
#if SECOND
    sums = texelFetch(D, at_second(texel), 0);
    Cascade sum = empty();
    First one = first_of(A, D, k, slices);
    vec2 t = taken(one, texelFetch(A, at(ivec2(texel.x, k)), 0).rg, dots(D, texel.x, slices).rg);
    for (int y = max(start, k + 1); y < end; ++y) {
        vec4 own = texelFetch(A, at(ivec2(k, y)), 0);
        vec4 block = texelFetch(A, at(ivec2(texel.x, y)), 0);
        vec2 v = own.rb * one.h.inverse;
        vec2 column = own.ga - v * one.t;
        add(sum, column.xxyy * (block - v.xxyy * t.xyxy), y - start);
    }
    sums.ba = total(sum).rg + total(sum).ba;
#else
    Cascade sum = empty();
    for (int y = start; y < end; ++y) {
        vec4 own = texelFetch(A, at(ivec2(k, y)), 0);
        vec4 block = texelFetch(A, at(ivec2(texel.x, y)), 0);
        if (y == k) block.rg = vec2(0.0);
        add(sum, own.rrbb * block, y - start);
    }
    sums = vec4(total(sum).rg + total(sum).ba, 0.0, 0.0);
#endif
}
