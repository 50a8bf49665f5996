// A block column of T, 64 columns from the diagonal on, in the order in which matmul/panel_broadcast.frag reads it.
//
// The result is lower triangular whatever T is: a transpose is turned, and of an upper triangle the last row and column
// come first. Row of texels y holds the panel of rows first + 16 y ...; texel x = 4 k + t of it holds rows 4t to 4t+3 of
// column first + k. The first four panels are the triangle on the diagonal, as strips/block_row.frag reads it. The
// elements on the other side of the diagonal come along, and are not used.
// A fragment computes one such texel. Beyond the matrix it is zero.
// T   n x n, packed
// Cost per fragment: 4 fetches.

#ifndef UPPER
#define UPPER 0  // T is upper triangular (0, 1)
#endif
#ifndef TRANSPOSED
#define TRANSPOSED 0  // T is the transpose of what is stored (0, 1)
#endif

uniform sampler2D T;
uniform int first;   // row and column of the block
uniform int order;   // of T
#if UPPER
uniform int padded;  // order, rounded up to whole groups of 16 rows: where an upper triangle begins
#endif

layout(location = 0) out vec4 panel;

float element(int i, int j) {
#if UPPER
    i = padded - 1 - i;
    j = padded - 1 - j;
#endif
    if (min(i, j) < 0 || max(i, j) >= order) return 0.0;
#if TRANSPOSED
    ivec2 at = ivec2(i, j);
#else
    ivec2 at = ivec2(j, i);
#endif
    vec4 block = texelFetch(T, at >> 1, 0);
    vec2 row = (at.y & 1) == 0 ? block.rg : block.ba;
    return (at.x & 1) == 0 ? row.x : row.y;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = first + (texel.x >> 2);
    int i = first + 16 * texel.y + 4 * (texel.x & 3);
    panel = vec4(element(i, j), element(i + 1, j), element(i + 2, j), element(i + 3, j));
}
