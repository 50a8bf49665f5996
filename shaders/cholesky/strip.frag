// 16 columns of L: X D^T = A for all rows below the block D on the diagonal, D itself, and zeros above it.
//
// A fragment computes one 2x2 block of L. It substitutes from the first of the 16 columns on.
// A        what remains, packed      D   the factor of the block on the diagonal (cholesky/diagonal.frag)
// corner   first texel of that block in A and in L
// Cost per fragment: up to 44 fetches, 512 flop and 32 divisions.
// Fetches: 0 to 44.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, `strip`.

#ifndef COLUMNS
#define COLUMNS 0  // texel columns of the strip that are substituted, known to the compiler (2, 4, 6, 8); or as needed (0)
#endif

#ifndef RECIPROCALS
#define RECIPROCALS 0  // multiply with those of the diagonal (0, 1)
#endif

#include "lib/repeat.glsl"
#include "lib/packed.glsl"
#include "lib/cholesky.glsl"
#include "cholesky/corner.glsl"

uniform sampler2D A;
uniform sampler2D D;
uniform ivec2 shape;  // rows and columns of L

layout(location = 0) out vec4 result;

const int SIDE = 8;  // of D, in texels

vec4 divided(vec4 block, vec4 pivot) {
#if RECIPROCALS
    return divided_rows(block, pivot, vec4(reciprocals_of(pivot.r), reciprocals_of(pivot.a)));
#else
    return divided_rows(block, pivot);
#endif
}

#define SUBSTITUTE(j)                                                                      \
    {                                                                                      \
        vec4 block = own[j];                                                               \
        for (int s = 0; s < (j); ++s) {                                                    \
            block = less_product(block, own[s], texelFetch(D, at_second(ivec2(s, j)), 0)); \
        }                                                                                  \
        own[j] = divided(block, texelFetch(D, at_second(ivec2(j, j)), 0));                 \
        if (place.x == (j)) result = own[j];                                               \
    }

void main() {
    ivec2 texel = own_texel();
    ivec2 place = texel - corner;
    result = vec4(0.0);
    if (place.y < SIDE) {
        if (place.y >= place.x) result = without_padding(texelFetch(D, at_second(place), 0), texel, shape);
        return;
    }
    vec4 own[SIDE];
#if COLUMNS
    for (int x = 0; x < COLUMNS; ++x) own[x] = texelFetch(A, at(ivec2(corner.x + x, texel.y)), 0);
    REPEAT_2(SUBSTITUTE, 0)
#if COLUMNS > 2
    REPEAT_2(SUBSTITUTE, 2)
#endif
#if COLUMNS > 4
    REPEAT_2(SUBSTITUTE, 4)
#endif
#if COLUMNS > 6
    REPEAT_2(SUBSTITUTE, 6)
#endif
#else
    for (int x = 0; x <= place.x; ++x) {
        own[x] = texelFetch(A, at(ivec2(corner.x + x, texel.y)), 0);
        SUBSTITUTE(x)
    }
#endif
    result = without_padding(result, texel, shape);
}
