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

#include "lib/cholesky.glsl"

uniform sampler2D A;
uniform ivec2 corner;

layout(location = 0) out vec4 result;

const int SIDE = 8;  // of the block, in texels

#define PLACE(y, x) ((y) * ((y) + 1) / 2 + (x))

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = vec4(0.0);
    if (texel.x > texel.y) return;
    vec4 l[SIDE * (SIDE + 1) / 2];  // the rows of texels up to texel.x, and then
    vec4 own[SIDE];                 // that of the fragment
    for (int y = 0; y <= texel.x; ++y) {
        for (int x = 0; x <= y; ++x) {
            vec4 block = texelFetch(A, corner + ivec2(x, y), 0);
            for (int s = 0; s < x; ++s) block = less_product(block, l[PLACE(y, s)], l[PLACE(x, s)]);
            l[PLACE(y, x)] = x == y ? factored(block) : divided_rows(block, l[PLACE(x, x)]);
        }
    }
    result = l[PLACE(texel.x, texel.x)];
    if (texel.x == texel.y) return;
    for (int x = 0; x <= texel.x; ++x) {
        vec4 block = texelFetch(A, corner + ivec2(x, texel.y), 0);
        for (int s = 0; s < x; ++s) block = less_product(block, own[s], l[PLACE(x, s)]);
        own[x] = divided_rows(block, l[PLACE(x, x)]);
    }
    result = own[texel.x];
}
