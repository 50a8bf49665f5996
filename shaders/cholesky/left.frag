// 16 columns of a panel, less the product of the columns on their left: A - X Y^T.
//
//     X   rows of L from the block on the diagonal on     Y   those of the 16 columns themselves
//
// A fragment computes one 2x2 block. It subtracts one product after the other, in the order in which update.frag does.
// A        the panel, packed      L   the panel's columns of L, of which those on the left are known
// corner   first texel of the block on the diagonal of the 16 columns, in A and in L
// Cost per fragment: 1 + 2 c fetches, 16 c flop, c texel columns on the left; above the diagonal 0.
// Fetches: 0 to 97.
// LAPACK potf2, which looks left.

#include "lib/packed.glsl"
#include "lib/cholesky.glsl"

uniform sampler2D A;
uniform sampler2D L;

flat in ivec2 corner;

layout(location = 0) out vec4 result;

const int SIDE = 8;  // of a block, in texels

void main() {
    ivec2 texel = own_texel();
    ivec2 place = texel - corner;
    result = vec4(0.0);
    if (place.x > place.y) return;
    result = texelFetch(A, at(texel), 0);
    int column = corner.y + place.x;  // row of texels of L that has the columns of the fragment
    for (int first = 0; first < corner.x; first += SIDE) {
        for (int s = 0; s < SIDE; ++s) {
            vec4 of_rows = texelFetch(L, at_second(ivec2(first + s, texel.y)), 0);
            result = less_product(result, of_rows, texelFetch(L, at_second(ivec2(first + s, column)), 0));
        }
    }
}
