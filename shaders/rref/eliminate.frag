// One step of Gauss-Jordan elimination, two columns of it: afterwards both are columns of the reduced row echelon form.
//
//     row r     (top - b / d' low) / a        the first pivot row, normalised and without the second column
//     row s     low / d'                      the second one; low = its row - l top
//     others    row - l0 top - l1 low         l0 = s0 / a,  l1 = (s1 - l0 b) / d': above and below alike
//
// A column may have no pivot: then nothing is eliminated with it, and what is in it from the next free row down is
// below the tolerance and becomes 0. So a step finds 0, 1 or 2 pivots, and r, the rank so far, follows.
// Exchange, normalisation and elimination (figure 4.6) are one gather pass.
//
// A fragment computes one 2x2 block of the new matrix.
// A   rows x columns, packed: the matrix before the step      pivots   records of pivot/record.frag
// Cost per fragment: up to 6 fetches, 16 flop and 4 divisions.
// Fetches: 2 to 6.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.2, equations 4.31 to 4.33, listings 4.3 and 4.4.

#include "lib/pivots.glsl"
#include "lib/ieee.glsl"

uniform sampler2D A;
uniform int k;        // texel column of the step
uniform ivec2 shape;  // rows and columns of A

flat in ivec4 rows;
flat in ivec2 found;
flat in vec4 block;

layout(location = 0) out vec4 result;

int source(int i) {
    return source_row(i, rows.x, rows.y, rows.z, rows.w);
}

bool is_first_pivot(int i) {
    return found.x == 1 && i == rows.x;
}

bool is_second_pivot(int i) {
    return found.y == 1 && i == rows.z;
}

// The column pair 2k, 2k+1 itself: units where there are pivots, zeros below the rank where there are none. A NaN stays.
vec2 finished_pair(int i, vec2 row) {
    vec2 pair;
    pair.x = found.x == 1 ? float(i == rows.x) : (i >= rows.x ? 0.0 : row.x);
    pair.y = found.y == 1 ? float(i == rows.z) : (i >= rows.z ? 0.0 : row.y);
    if (is_nan(row.x)) pair.x = row.x;
    if (is_nan(row.y)) pair.y = row.y;
    return pair;
}

vec2 reduced_row(int i, int x, vec2 top, vec2 low) {
    if (i >= shape.x) return vec2(0.0);
    vec2 row = row_pair(A, source(i), x);
    if (x < k) return row;
    if (is_first_pivot(i)) {
        if (found.y == 1) top -= multiplier(block.y, block.w) * low;
        row = vec2(quotient(top.x, block.x), quotient(top.y, block.x));
    } else if (is_second_pivot(i)) {
        row = vec2(quotient(low.x, block.w), quotient(low.y, block.w));
    } else {
        vec2 lead = row_pair(A, source(i), k);
        float l0 = found.x == 1 ? quotient(lead.x, block.x) : 0.0;
        float l1 = found.y == 1 ? quotient(lead.y - l0 * block.y, block.w) : 0.0;
        if (found.x == 1) row -= l0 * top;
        if (found.y == 1) row -= l1 * low;
    }
    return x == k ? finished_pair(i, row) : row;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec2 top = vec2(0.0);
    vec2 low = vec2(0.0);
    if (found.x == 1) top = row_pair(A, source(rows.x), texel.x);
    if (found.y == 1) {
        low = row_pair(A, source(rows.z), texel.x);
        if (found.x == 1) low -= block.z * top;
    }
    vec4 both = vec4(reduced_row(2 * texel.y, texel.x, top, low), reduced_row(2 * texel.y + 1, texel.x, top, low));
    result = without_padding(both, texel, shape);
}
