// Pivot search of step k in every matrix of a stack, two columns at once:
//
//     p = argmax |a[i, 2k]|          q = argmax |a[i, 2k+1] - a[i, 2k] / a[p, 2k] a[p, 2k+1]|,  rows 2k and 2k+1 apart
//
// A fragment searches one matrix, alone: the stack is what there is to share. It computes (p, q, 0, 0), the row that
// comes to row 2k, and where the row that then comes to row 2k+1 stands; and, with those two rows,
//
//     a b        a  b        l = c / a
//     c d   ->   l  d'       d' = d - l b        the constants (a, b, l, d') of the step.
//
// Of equals the first wins; a column of zeros keeps its row.
// A   stack of matrices, the first `rows` rows counting
// Cost per fragment: 2 (rows / 2 - k) fetches; 5 flop for each row.
// LAPACK getf2.

#define STACK 1

#include "lib/packed.glsl"
#include "lib/divide.glsl"
#include "lib/exchange.glsl"

uniform sampler2D A;
uniform int rows;

layout(location = 0) out vec4 pivots;
layout(location = 1) out vec4 block;

const int AT_ONCE = 4;  // fetches under way: nothing else hides the time they take

void main() {
    int k = own_texel().y;
    int r = 2 * k;
    int end = (rows + 1) >> 1;

    int p = r;
    float best = 0.0;
    for (int y = k; y < end; y += AT_ONCE) {
        vec4 some[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) some[i] = texelFetch(A, at(ivec2(k, min(y + i, end - 1))), 0);
        for (int i = 0; i < AT_ONCE; ++i) {  // a texel that is met again is not better; padding is zero
            if (abs(some[i].r) > best) { best = abs(some[i].r); p = 2 * (y + i); }
            if (abs(some[i].b) > best) { best = abs(some[i].b); p = 2 * (y + i) + 1; }
        }
    }

    vec2 upper = row_pair(A, p, k);
    vec2 displaced = row_pair(A, r, k);  // stands in row p now
    int q = r + 1;
    best = 0.0;
    for (int y = k; y < end; y += AT_ONCE) {
        vec4 some[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) some[i] = texelFetch(A, at(ivec2(k, min(y + i, end - 1))), 0);
        for (int i = 0; i < 2 * AT_ONCE; ++i) {
            int row = 2 * y + i;
            vec2 lead = row == p ? displaced : half_of(some[i >> 1], i);
            float entry = abs(lead.y - multiplier(lead.x, upper.x) * upper.y);
            if (row > r && row < rows && entry > best) { best = entry; q = row; }
        }
    }

    vec2 lower = row_pair(A, source_row(r + 1, r, p, r + 1, q), k);
    float l = multiplier(lower.x, upper.x);
    pivots = vec4(p, q, 0.0, 0.0);
    block = vec4(upper, l, lower.y - l * upper.y);
}
