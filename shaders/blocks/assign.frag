// result[i, j] = B[k, l] where (i, j) = first + (k, l) step, k and l below `count`; else A[i, j].
//
// A fragment computes one 2x2 block.
// A   packed      B   packed, placed over the block as lib/operand.glsl says      result   rows x columns, packed
// Cost per fragment: 1 fetch, and 1 for each element that comes from B.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform sampler2D B;
uniform ivec2 first;      // row and column that B[0, 0] goes to
uniform ivec2 step_;      // from one row of the block to the next, and from one column to the next; not 0
uniform ivec2 count;      // rows and columns of the block
uniform ivec3 placement;  // of B over the block
uniform ivec2 shape;      // rows and columns of A

layout(location = 0) out vec4 result;

// Which row (column) of the block goes to row (column) i? -1 if none does.
int place(int i, int start, int stride, int most) {
    int distance = stride > 0 ? i - start : start - i;
    if (distance < 0 || distance % abs(stride) != 0) return -1;
    int k = distance / abs(stride);
    return k < most ? k : -1;
}

float element(int i, int j, float old) {
    int k = place(i, first.x, step_.x, count.x);
    int l = place(j, first.y, step_.y, count.y);
    if (k < 0 || l < 0) return old;
    ivec2 at = ivec2(k, l) * placement.xy;
    if (placement.z == 1) at = at.yx;
    vec2 pair = row_pair(B, at.x, at.y >> 1);
    return (at.y & 1) == 0 ? pair.x : pair.y;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y;
    int j = 2 * texel.x;
    vec4 old = texelFetch(A, texel, 0);
    vec4 block = vec4(element(i, j, old.r), element(i, j + 1, old.g), element(i + 1, j, old.b), element(i + 1, j + 1, old.a));
    result = without_padding(block, texel, shape);
}
