// For vertex shaders: what all fragments of a step of a factorisation share, computed once for each corner instead of
// once for each fragment (thesis, listing 4.5). Everything is the same at the three corners, and `flat`, so nothing is
// interpolated.
//
//     a b        a  b        l = c / a
//     c d   ->   l  d'       d' = d - l b

#include "lib/fullscreen.glsl"
#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/exchange.glsl"

uniform sampler2D A;

flat out int k;           // texel column of the step
flat out ivec2 exchange;  // p and q: rows that come to row top + 2k and the next
flat out vec4 block;      // a, b, l, d'

void share(int step, ivec2 pivots, int r) {
    k = step;
    exchange = pivots;
    vec2 upper = row_pair(A, source_row(r, r, exchange.x, r + 1, exchange.y), k);
    vec2 lower = row_pair(A, source_row(r + 1, r, exchange.x, r + 1, exchange.y), k);
    float l = multiplier(lower.x, upper.x);
    block = vec4(upper, l, lower.y - l * upper.y);
}
