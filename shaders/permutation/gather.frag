// result[i, j] = A[rows[i], left + j]: rows of A in another order, some or all of them, without the leftmost columns.
//
// A fragment computes one 2x2 block.
// A   packed      rows   columns of texels (source of row 2y, source of row 2y+1, 0, 0)      result   m x n
// Fetches: 3.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform sampler2D rows;
uniform int column;   // of `rows`
uniform ivec2 shape;  // rows and columns of the result
uniform int left;     // columns of A that are left out, even; negative where A is a panel of it

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 source = ivec2(texelFetch(rows, ivec2(column, texel.y), 0).rg);
    int x = texel.x + left / 2;
    vec4 block = vec4(row_pair(A, source.x, x), row_pair(A, source.y, x));
    result = without_padding(block, texel, shape);
}
