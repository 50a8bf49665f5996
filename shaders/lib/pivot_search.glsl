// Partial pivoting of step k, by one invocation for the whole matrix: two columns at once,
//
//     p = argmax |a[i, 2k]|          q = argmax |a[i, 2k+1] - a[i, 2k] / a[p, 2k] a[p, 2k+1]|,  rows 2k and 2k+1 apart
//
// exchange is (p, q), the row that comes to row 2k, and where the row is that then comes to row 2k+1; block are the
// constants of these two rows, see lib/pivots.glsl.
// Of equals the first wins; a column of zeros keeps its row. LAPACK getf2.

#include "lib/pivots.glsl"

const int UNDER_WAY = 4;  // fetches at a time: nothing else hides how long they take

void search_pivots(sampler2D A, int k, int rows, out ivec2 exchange, out vec4 block) {
    int r = 2 * k;
    int end = (rows + 1) >> 1;

    int p = r;
    float best = 0.0;
    for (int y = k; y < end; y += UNDER_WAY) {
        vec4 some[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; ++i) some[i] = texelFetch(A, at(ivec2(k, min(y + i, end - 1))), 0);
        for (int i = 0; i < 2 * UNDER_WAY; ++i) {
            int row = 2 * y + i;
            float entry = abs(half_of(some[i >> 1], i).x);
            if (row < rows && entry > best) {
                best = entry;
                p = row;
            }
        }
    }

    vec2 upper = row_pair(A, p, k);
    vec2 displaced = row_pair(A, r, k);  // is in row p now
    int q = r + 1;
    best = 0.0;
    for (int y = k; y < end; y += UNDER_WAY) {
        vec4 some[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; ++i) some[i] = texelFetch(A, at(ivec2(k, min(y + i, end - 1))), 0);
        for (int i = 0; i < 2 * UNDER_WAY; ++i) {
            int row = 2 * y + i;
            vec2 lead = row == p ? displaced : half_of(some[i >> 1], i);
            float entry = abs(lead.y - multiplier(lead.x, upper.x) * upper.y);
            if (row > r && row < rows && entry > best) {
                best = entry;
                q = row;
            }
        }
    }

    exchange = ivec2(p, q);
    block = pivot_block(A, k, r, exchange);
}
