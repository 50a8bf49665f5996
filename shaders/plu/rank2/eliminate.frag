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
// Fetches: 3 to 6.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equations 4.42 to 4.44, listings 4.5 and 4.6.

#ifndef INCLUDED
#define INCLUDED 0  // another shader has the step's functions, and a main of its own (1), see plu/doolittle.glsl
#endif

#include "lib/packed.glsl"
#include "lib/pivots.glsl"

uniform sampler2D A;
uniform int top;  // first row of the panel

flat in int k;  // texel column of the step
#if STACK       // every matrix has its own pivots
uniform sampler2D pivots;
uniform sampler2D blocks;
ivec2 exchange;
vec4 block;
#else
flat in ivec2 exchange;  // rows p and q
flat in vec4 block;      // a, b, l, d'
#endif

int source(int i) {
    int r = top + 2 * k;
    return source_row(i, r, exchange.x, r + 1, exchange.y);
}

// Multipliers of a row below the pivot rows, from its entries in the columns of the step.
vec2 multipliers(vec2 lead) {
    float l0 = multiplier(lead.x, block.x);
    return vec2(l0, multiplier(lead.y - l0 * block.y, block.w));
}

vec2 less_multiples(vec2 row, vec2 l, vec2 upper, vec2 lower) {
    row -= l.x * upper;
    row -= l.y * lower;
    return row;
}

vec2 reduced_row(int i, int x, vec2 upper, vec2 lower) {
    int r = top + 2 * k;
    if (i == r + 1) return x == k ? block.zw : lower;
    vec2 row = row_pair(A, source(i), x);
    if (i <= r || x < k) return row;  // finished rows of U, the upper pivot row, finished columns of L
    vec2 l = multipliers(row_pair(A, source(i), k));
    return x == k ? l : less_multiples(row, l, upper, lower);
}

// The pivot rows in texel column x: (upper, lower), reduced where they are not finished.
vec4 pivot_rows(int x) {
    vec2 upper = row_pair(A, source(top + 2 * k), x);
    vec2 lower = row_pair(A, source(top + 2 * k + 1), x);
    if (x > k) lower -= block.z * upper;
    return vec4(upper, lower);
}

vec4 reduced(ivec2 texel) {
#if STACK
    exchange = ivec2(texelFetch(pivots, at(ivec2(0, k)), 0).rg);
    block = texelFetch(blocks, at(ivec2(0, k)), 0);
#endif
    vec4 leading = pivot_rows(texel.x);
    return vec4(reduced_row(2 * texel.y, texel.x, leading.rg, leading.ba),
                reduced_row(2 * texel.y + 1, texel.x, leading.rg, leading.ba));
}

#if !INCLUDED

uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    result = without_padding(reduced(texel), texel, shape);
}

#endif
