// A symmetric matrix of which only what is on and below the diagonal was drawn (MIRROR): texel (x, y) is the transpose of
// texel (y, x), so that both halves have the same bits.

#include "lib/packed.glsl"

ivec2 drawn_texel(ivec2 texel) {
#if MIRROR
    if (texel.x > texel.y) return texel.yx;
#endif
    return texel;
}

vec4 mirrored(vec4 block, ivec2 texel) {
#if MIRROR
    if (texel.x > texel.y) return block.rbga;
    if (texel.x == texel.y) return block.rbba;
#endif
    return block;
}
