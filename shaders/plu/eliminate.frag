// One step of the Doolittle factorisation, two columns and two rows of it:
//
//     rows r, r+1      brought up from rows p, q; the lower one minus l times the upper one; r = top + 2k
//     below, left      multipliers  l0 = s0 / a,  l1 = (s1 - l0 b) / d'
//     below, right     s - l0 u0 - l1 u1
//
// Row exchange, multipliers and reduction (three shaders in the thesis) are one gather: a fragment fetches its rows
// where they stood before the exchange, and recomputes the two multipliers of its rows from the pivot block.
// The multipliers stay where the zeros would be, so that L and U share one matrix (equation 4.41).
//
// A fragment computes one 2x2 block of the new matrix.
// A   rows x columns, packed: the matrix, or a panel of it that starts at row `top`, before the step
// pivots, blocks   with STACK: for each matrix a column of texels, see stack/search.frag
// Cost per fragment: up to 6 fetches, 16 flop and 4 divisions.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equations 4.42 to 4.44, listings 4.5 and 4.6.

#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/exchange.glsl"

uniform sampler2D A;
uniform int top;      // first row of the panel
uniform ivec2 shape;  // rows and columns of A

flat in int k;  // texel column of the step
#if STACK  // every matrix has its own pivots
uniform sampler2D pivots;
uniform sampler2D blocks;
ivec2 exchange;
vec4 block;
#else
flat in ivec2 exchange;
flat in vec4 block;
#endif

layout(location = 0) out vec4 result;

int source(int i) {
    int r = top + 2 * k;
    return source_row(i, r, exchange.x, r + 1, exchange.y);
}

vec2 reduced_row(int i, int x, vec2 upper, vec2 lower) {
    int r = top + 2 * k;
    if (i == r + 1) return x == k ? block.zw : lower;
    vec2 row = row_pair(A, source(i), x);
    if (i <= r || x < k) return row;  // finished rows of U, the upper pivot row, finished columns of L
    vec2 lead = row_pair(A, source(i), k);
    float l0 = multiplier(lead.x, block.x);
    float l1 = multiplier(lead.y - l0 * block.y, block.w);
    if (x == k) return vec2(l0, l1);
    row -= l0 * upper;
    row -= l1 * lower;
    return row;
}

void main() {
    ivec2 texel = own_texel();
#if STACK
    exchange = ivec2(texelFetch(pivots, at(ivec2(0, k)), 0).rg);
    block = texelFetch(blocks, at(ivec2(0, k)), 0);
#endif
    vec2 upper = row_pair(A, source(top + 2 * k), texel.x);
    vec2 lower = row_pair(A, source(top + 2 * k + 1), texel.x);
    if (texel.x > k) lower -= block.z * upper;
    vec4 rows = vec4(reduced_row(2 * texel.y, texel.x, upper, lower),
                     reduced_row(2 * texel.y + 1, texel.x, upper, lower));
    result = without_padding(rows, texel, shape);
}
