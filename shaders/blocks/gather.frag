// A block of A, result[i, j] = A[origin + i down + j right].
//
// The offsets `down` and `right` choose what is taken: every k-th row and column, forwards or backwards, the transpose,
// or a diagonal of A as a column.
//
// A fragment computes one 2x2 block. The four elements may come from four texels, wherever an offset is odd.
// A   packed      result   rows x columns, packed
// Cost per fragment: 4 fetches.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform ivec2 origin;  // row and column of A that the first element comes from
uniform ivec2 down;    // offset from one row of the result to the next
uniform ivec2 right;   // offset from one column of the result to the next
uniform ivec2 shape;   // rows and columns of the result

layout(location = 0) out vec4 result;

float element(int i, int j) {
    if (i >= shape.x || j >= shape.y) return 0.0;
    ivec2 at = origin + i * down + j * right;
    vec2 pair = row_pair(A, at.x, at.y >> 1);
    return (at.y & 1) == 0 ? pair.x : pair.y;
}

void main() {
    result = BLOCK_OF(element, ivec2(gl_FragCoord.xy));
}
