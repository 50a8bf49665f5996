// The packed layout: texel (x, y) of M holds the 2x2 block
//
//     r g      M[2y,   2x]  M[2y,   2x+1]
//     b a      M[2y+1, 2x]  M[2y+1, 2x+1]
//
// `element pair` means the two elements of one row that share a texel: (M[i, 2x], M[i, 2x+1]).
//
// A stack of matrices that one pass works on (STACK), interleaved: texels (x, y) of all matrices are adjacent, in a
// block of `grid` cells, one for each matrix. Here six matrices of 2 x 2 texels, a grid of 3 x 2:
//
//     texel (0,0) of     texel (1,0) of
//     0 1 2              0 1 2             So neighbouring fragments do the same for neighbouring matrices, and any
//     3 4 5              3 4 5             rectangle of texels, of all matrices at once, is a rectangle to draw.
//     0 1 2              0 1 2
//     3 4 5              3 4 5             A single matrix is a stack with one cell: the packed layout itself.
//
// Kim et al., "Designing vector-friendly compact BLAS and LAPACK kernels" (2017): the interleaved batch.

#ifndef STACK
#define STACK 0  // operands are stacks of matrices (1), or single ones (0)
#endif
#ifndef SHEET
#define SHEET 0  // slots are side by side in one texture: columns from one to the next
#endif

#if STACK

uniform ivec2 grid;  // cells across and down

// Texel of its matrix that this fragment computes. In floats, because GPUs have no division of integers: gl_FragCoord is
// the middle of a texel, so far from a whole multiple of the grid that no rounding matters.
ivec2 own_texel() {
    return ivec2(gl_FragCoord.xy / vec2(grid));
}

// Which cell of every block is that of its matrix.
ivec2 own_cell() {
    return ivec2(gl_FragCoord.xy) - own_texel() * grid;
}

// Where a texel of the same matrix is.
ivec2 at(ivec2 texel) {
    return texel * grid + own_cell();
}

// Where a texel of another matrix is.
ivec2 at(ivec2 texel, int matrix) {
    return texel * grid + ivec2(matrix % grid.x, matrix / grid.x);
}

// Number of the matrix that this fragment works on.
int own_matrix() {
    return own_cell().y * grid.x + own_cell().x;
}

#elif SHEET

#ifndef PLACED  // by the vertex stage, see lib/sheet.glsl
flat in int drawn_at;
flat in int sampled_at;
flat in int second_at;
#endif
#define own_texel() (ivec2(gl_FragCoord.xy) - ivec2(drawn_at, 0))
#define at(texel) ((texel) + ivec2(sampled_at, 0))
#define at_second(texel) ((texel) + ivec2(second_at, 0))

#else

#define own_texel() ivec2(gl_FragCoord.xy)
#define at(texel) (texel)

#endif

#ifndef at_second
#define at_second(texel) at(texel)
#endif

vec2 half_of(vec4 texel, int i) {
    return (i & 1) == 0 ? texel.rg : texel.ba;
}

vec2 row_pair(sampler2D M, int i, int x) {
    return half_of(texelFetch(M, at(ivec2(x, i >> 1)), 0), i);
}

// The block of a texel by a function or a macro of rows and columns.
#define BLOCK_OF(element, texel) vec4(element(2 * (texel).y, 2 * (texel).x), element(2 * (texel).y, 2 * (texel).x + 1), \
    element(2 * (texel).y + 1, 2 * (texel).x), element(2 * (texel).y + 1, 2 * (texel).x + 1))

// Zero whatever is outside the matrix. Chosen, not multiplied: 0 * NaN is NaN.
vec4 without_padding(vec4 block, ivec2 texel, ivec2 shape) {  // shape: rows, columns
    bool last_row = 2 * texel.y + 1 >= shape.x;
    bool last_column = 2 * texel.x + 1 >= shape.y;
    return vec4(block.r,
                last_column ? 0.0 : block.g,
                last_row ? 0.0 : block.b,
                last_row || last_column ? 0.0 : block.a);
}
