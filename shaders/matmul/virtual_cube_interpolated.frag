// C += A[:, slice] B[slice, :]: one layer of the virtual cube, at texture coordinates that the vertex stage prepares.
//
// What matmul/virtual_cube.frag does, as the thesis does it: the places in A and B are varyings, interpolated by the
// rasteriser, so that a GPU of 2007 could fetch before the fragment ran (section 3.2: up to 25 percent faster). It is
// the one shader here that does not use texelFetch on integers. It reads the texels that virtual_cube reads, and gives
// its results bit for bit, as long as interpolation errs by less than half a texel: 2^-15 of a texture's side of 16384
// texels, where float32 errs by about 2^-23.
// A fragment computes one 2x2 block.
// A   rows x inner, packed      B   inner x columns, packed      C   rows x columns, packed, with CONTINUE: to begin with
// Cost per fragment: 2 fetches (3 with CONTINUE) and 16 flop.
// Fetches: 2 + CONTINUE.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), sections 3.2 and 4.1.1, listing 4.2; Galoppo, Govindaraju, Henson and
// Manocha (2005), for the gain.

#ifndef CONTINUE
#define CONTINUE 0  // read the sum so far instead of blending onto it (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/block_product.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform ivec2 shape;  // rows and columns of C

in vec2 a_at;
in vec2 b_at;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if CONTINUE
    vec4 sum = texelFetch(C, texel, 0);
#else
    vec4 sum = vec4(0.0);
#endif
    vec4 a = texture(A, a_at);
    vec4 b = texture(B, b_at);
    result = without_padding(add_block_product(sum, a, b), texel, shape);
}
