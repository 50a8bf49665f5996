// 16 columns of L, and what remains after them, in one pass.
//
//     D D^T = A[block, block]     X D^T = A[below, block]     A - X X^T, in the lower half of what remains
//
// A fragment computes one 2x2 block of the new matrix. It factors the block on the diagonal itself, and the rows of X that
// it needs, so all fragments repeat that; for small matrices and narrow bands it costs less than three passes that wait
// for each other.
// A        the matrix before: finished columns of L, then the lower half of what remains; packed, or by columns (BANDED)
// corner   first texel of the block on the diagonal
// Cost per fragment: up to 53 fetches, 2600 flop, 136 divisions and 16 roots; of finished columns 1 fetch.
// Fetches: 0 to 53.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, its four kernels in one; LAPACK
// potrf.

#include "cholesky/banded.glsl"
#include "lib/packed.glsl"
#include "cholesky/sixteen.glsl"

uniform ivec2 shape;  // rows and columns of A, as it is stored

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    ivec2 place = from_diagonal(texel, corner);
    result = vec4(0.0);
    if (place.x > place.y) return;
    vec4 before = texelFetch(A, at(texel), 0);
    result = before;
    if (place.x < 0 || beyond_reach(place)) return;
    int last = min(place.x, SIDE - 1);
    factor_block(last);
    if (place.x == place.y && place.x < SIDE) {
        result = l[PLACE(last, last)];
    } else {
        substitute_row(place.y, last);
        result = own[last];
    }
    if (place.x >= SIDE) {
        vec4 rows[SIDE];
        for (int s = 0; s < SIDE; ++s) rows[s] = own[s];
        substitute_row(place.x, last);
        result = before;
        for (int s = 0; s < SIDE; ++s) result = less_product(result, rows[s], own[s]);
    }
    result = without_padding(result, texel, shape);
}
