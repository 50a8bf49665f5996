// L of the 16 x 16 block on the diagonal, in one pass.
//
// A fragment computes one 2x2 block of L. It factors the rows above its own as far as it needs them, so the fragments of
// later rows repeat what those of earlier ones do; that costs less than 8 passes that wait for each other.
// A        what remains, packed; only the lower half of the block is used
// corner   its first texel in A
// A pivot that is not above zero is written as it is, see lib/root.glsl.
// Cost per fragment: up to 43 fetches, 1400 flop, 72 divisions and 16 roots.
// Fetches: 0 to 43.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, `topleft`; LAPACK potf2.

#include "cholesky/sixteen.glsl"

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    result = vec4(0.0);
    if (texel.x > texel.y) return;
#if AHEAD
    factor_block();
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x <= y; ++x) {
            if (texel == ivec2(x, y)) result = l[PLACE(y, x)];
        }
    }
#else
    factor_block(texel.x);
    result = l[PLACE(texel.x, texel.x)];
    if (texel.x == texel.y) return;
    substitute_row(texel.y, texel.x);
    result = own[texel.x];
#endif
}
