// Block pivoting: two rows that share a texel are tried in either order, as both pivot rows at once.
//
// Eliminating below the first leaves the diagonal (d1, d2) = (a, d - b c / a) of the 2x2 block. The norm is
// d1 d2 / (d1 + d2), half their harmonic mean, or sqrt(d1 d2), their geometric one. A block that has a single row or
// column left is measured by d1.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.2.

#ifndef GEOMETRIC
#define GEOMETRIC 0  // norms are geometric means (1), or half the harmonic ones (0)
#endif

#include "lib/offer.glsl"
#include "lib/divide.glsl"

void offer_block(vec2 one, vec2 two, int p, int q, int r, float smallest) {
    float d1 = abs(one.x);
    float d2 = abs(two.y - multiplier(two.x, one.x) * one.y);
    float low = min(d1, d2);
    float high = max(d1, d2);
#if GEOMETRIC
    if (abs(two.x) > abs(one.x)) return;  // d1 d2 is the same in either order: take the one that multiplies less
    float norm = low > smallest ? sqrt(low) * sqrt(high) : 0.0;
#else
    float norm = low > smallest ? low / (1.0 + low / high) : 0.0;  // d1 d2 / (d1 + d2), without overflow
#endif
    offer(norm, p, q == r ? p : q);
}

// Offers rows 2y and 2y+1 of `rows`, unless they are above row r and are done with. A pivot up to `smallest` is none.
void look_at_block(int y, vec4 block, int r, int rows, bool single_column, float smallest) {
    int i = 2 * y;
    if (i < r - 1) return;
    bool lower = i + 1 < rows;
    if (single_column) {
        offer(abs(block.r), i, -1);
        if (lower) offer(abs(block.b), i + 1, -1);
    } else if (lower) {
        offer_block(block.rg, block.ba, i, i + 1, r, smallest);
        offer_block(block.ba, block.rg, i + 1, i, r, smallest);
    } else if (i == r) {
        offer(abs(block.r), i, -1);  // the last row of an odd number of rows
    }
    best.w = max(best.w, max(max(abs(block.r), abs(block.g)), max(abs(block.b), abs(block.a))));
}
