// packed[b][i, left + j] = raw[start + (b rows + i) columns + j]: a stack in NumPy's C order, packed and interleaved.
//
// A fragment computes one texel of one matrix. The raw elements are one after the other, row by row of the texture
// they came in. The cells behind the last matrix are zero.
// With IDENTITY every matrix is the identity, and nothing is read; with PROBES the texel columns behind it hold random
// numbers of variance 1, the same in all; with SCALED row i of the matrix is multiplied by 2^-e_i.
// raw            one element per texel
// row_exponents  for each matrix a column of texels (e_2y, e_2y+1, 0, 0), if SCALED
// packed         stack of matrices, these being the columns from texel `left` on
// Cost per fragment: 4 fetches (SCALED: 5; IDENTITY, and behind the matrix: 4 less).
// Hall, Carr and Hart, "Cache and bandwidth aware matrix multiplication on the GPU" (2003): the 2x2 layout.

#ifndef IDENTITY
#define IDENTITY 0  // pack what was uploaded (0), or write identity matrices (1)
#endif
#ifndef PROBES
#define PROBES 0  // write random numbers behind the matrix (0, 1)
#endif
#ifndef SCALED
#define SCALED 0  // scale the rows (0, 1)
#endif
#define STACK 1

#include "lib/packed.glsl"
#include "lib/exponent.glsl"
#include "stack/random.glsl"

#if IDENTITY == 0
uniform sampler2D raw;
uniform int start;    // place of the first element of the first matrix
#endif
#if SCALED
uniform sampler2D row_exponents;
#endif
uniform int left;     // texel column that the matrix begins in
uniform int count;    // matrices
uniform ivec2 shape;  // rows and columns of each

layout(location = 0) out vec4 packed_block;

float element(int i, int j) {
    if (i >= shape.x || own_matrix() >= count) return 0.0;
#if PROBES
    int probe = j - (shape.y + 1 & ~1);
    if (probe >= 0) return random_at(i, probe);
#endif
    if (j >= shape.y) return 0.0;
#if IDENTITY
    return i == j ? 1.0 : 0.0;
#else
    int place = start + (own_matrix() * shape.x + i) * shape.y + j;
    int width = textureSize(raw, 0).x;
    return texelFetch(raw, ivec2(place % width, place / width), 0).r;
#endif
}

void main() {
    ivec2 texel = own_texel() - ivec2(left, 0);
#ifdef SOFTWARE
    packed_block = vec4(0.0);
    int elements = own_matrix() < count ? 4 : 0;  // of a texel; not known to the compiler, which would write them out
    for (int e = 0; e < elements; ++e) {
        packed_block = vec4(packed_block.gba, element(2 * texel.y + (e >> 1), 2 * texel.x + (e & 1)));
    }
#else
    packed_block = BLOCK_OF(element, texel);
#endif
#if SCALED
    if (2 * texel.x >= shape.y) return;
    ivec2 e = ivec2(texelFetch(row_exponents, at(ivec2(0, texel.y)), 0).rg);
    packed_block.r = scaled(packed_block.r, -e.x);
    packed_block.g = scaled(packed_block.g, -e.x);
    packed_block.b = scaled(packed_block.b, -e.y);
    packed_block.a = scaled(packed_block.a, -e.y);
#endif
}
