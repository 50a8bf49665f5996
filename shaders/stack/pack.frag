// packed[b][i, left + j] = raw[start + (b rows + i) columns + j]: a stack in NumPy's C order, packed and interleaved.
//
// A fragment computes one texel of one matrix. The raw elements are one after the other, row by row of the texture
// they came in. The cells behind the last matrix are zero.
// With IDENTITY every matrix is the identity, and is not read; with PROBES the texel columns behind it hold random
// numbers of variance 1, the same in all. With SCALED the square matrix A, with which raw begins, comes before it, with
// rows and columns multiplied by 2^-(e_i + f_j); rows of the other by 2^-e_i.
// raw               one element per texel
// row_exponents     for each matrix a column of texels (e_2y, e_2y+1, 0, 0), if SCALED
// column_exponents  f likewise
// packed            stack of matrices, these being the columns from texel `left` on
// Cost per fragment: 4 fetches (SCALED: 5, of A 6; IDENTITY, and behind the matrix: 4 less).
// Hall, Carr and Hart, "Cache and bandwidth aware matrix multiplication on the GPU" (2003): the 2x2 layout.

#ifndef IDENTITY
#define IDENTITY 0  // pack what was uploaded (0), or write identity matrices (1)
#endif
#ifndef PROBES
#define PROBES 0  // write random numbers behind the matrix (0, 1)
#endif
#ifndef SCALED
#define SCALED 0  // A comes before it, and both are equilibrated (0, 1)
#endif
#define STACK 1

#include "lib/packed.glsl"
#include "lib/exponent.glsl"
#include "stack/random.glsl"

#if IDENTITY == 0 || SCALED
uniform sampler2D raw;
#define RAW(place) texelFetch(raw, ivec2((place) % textureSize(raw, 0).x, (place) / textureSize(raw, 0).x), 0).r
#else
#define RAW(place) 0.0
#endif
uniform int start;    // place of the first element of the first matrix
#if SCALED
uniform sampler2D row_exponents;
uniform sampler2D column_exponents;
#endif
uniform int left;     // texel column that the matrix begins in
uniform int count;    // matrices
uniform ivec2 shape;  // rows and columns of each

layout(location = 0) out vec4 packed_block;

bool of_A;  // the texel is of A
float element(int i, int j) {
    if (i >= shape.x || own_matrix() >= count) return 0.0;
#if PROBES
    int probe = j - (shape.y + 1 & ~1);
    if (!of_A && probe >= 0) return random_at(i, probe);
#endif
    int columns = of_A ? shape.x : shape.y;
    if (j >= columns) return 0.0;
#if IDENTITY
    if (!of_A) return i == j ? 1.0 : 0.0;
#endif
    return RAW((of_A ? 0 : start) + (own_matrix() * shape.x + i) * columns + j);
}

void main() {
    ivec2 texel = own_texel();
    of_A = SCALED == 1 && texel.x < left;
    if (!of_A) texel.x -= left;
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
    if (!of_A && 2 * texel.x >= shape.y) return;
    ivec2 e = ivec2(texelFetch(row_exponents, at(ivec2(0, texel.y)), 0).rg);
    ivec2 f = of_A ? ivec2(texelFetch(column_exponents, at(ivec2(0, texel.x)), 0).rg) : ivec2(0);
    packed_block.r = scaled(packed_block.r, -e.x - f.x);
    packed_block.g = scaled(packed_block.g, -e.x - f.y);
    packed_block.b = scaled(packed_block.b, -e.y - f.x);
    packed_block.a = scaled(packed_block.a, -e.y - f.y);
#endif
}
