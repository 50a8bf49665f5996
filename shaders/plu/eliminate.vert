// The pivot rows of step k and the constants of their 2x2 block, once for each corner instead of once for each fragment
// (thesis, listing 4.5). Everything is the same at the three corners, and `flat`, so nothing is interpolated.
//
//     a b        a  b        l = c / a
//     c d   ->   l  d'       d' = d - l b

#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/exchange.glsl"

uniform sampler2D A;
uniform sampler2D pivots;
uniform int k;     // texel column and row of the step
uniform int slot;  // texel of `pivots` that holds its record

flat out ivec2 exchange;  // p and q: rows that come to rows 2k and 2k+1
flat out vec4 block;      // a, b, l, d'

void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
    exchange = ivec2(texelFetch(pivots, ivec2(slot, 0), 0).rg);
    int r = 2 * k;
    vec2 top = row_pair(A, source_row(r, r, exchange.x, r + 1, exchange.y), k);
    vec2 low = row_pair(A, source_row(r + 1, r, exchange.x, r + 1, exchange.y), k);
    float l = multiplier(low.x, top.x);
    block = vec4(top, l, low.y - l * top.y);
}
