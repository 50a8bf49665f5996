// R: what is on and above the diagonal, its columns scaled back by powers of two; below it zeros, or (KEEP) what is
// there.
//
// A fragment computes one 2x2 block.
// H   the factors, packed      column_exponents   column of texels (f_2x, f_2x+1, 0, 0)
// Cost per fragment: 2 fetches; below the diagonal none, with KEEP 1.

#ifndef KEEP
#define KEEP 0  // the reflectors stay below the diagonal (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/exponent.glsl"

uniform sampler2D H;
uniform sampler2D column_exponents;
uniform ivec2 shape;  // rows and columns of R

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    result = vec4(0.0);
#if KEEP
    if (texel.y > texel.x) result = texelFetch(H, at(texel), 0);
#endif
    if (texel.y <= texel.x) {
        vec4 block = texelFetch(H, at(texel), 0);
        ivec2 f = ivec2(texelFetch(column_exponents, at(ivec2(0, texel.x)), 0).rg);
        result = vec4(scaled(block.r, f.x), scaled(block.g, f.y), scaled(block.b, f.x), scaled(block.a, f.y));
        if (texel.y == texel.x) result.b = KEEP == 1 ? block.b : 0.0;
    }
    result = without_padding(result, texel, shape);
}
