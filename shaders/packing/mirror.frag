// The symmetric matrix of one triangle: M[i, j] = A[max(i, j), min(i, j)], with UPPER A[min(i, j), max(i, j)].
//
// A fragment computes one 2x2 block; the other triangle of A is never read, but for its corner in a block of the diagonal.
// A   n x n, packed
// Cost per fragment: 1 fetch.
// Fetches: 1.

#ifndef UPPER
#define UPPER 0  // the triangle that is read is the upper one (0, 1)
#endif

uniform sampler2D A;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    bool there = UPPER == 1 ? texel.x >= texel.y : texel.x <= texel.y;
    vec4 block = texelFetch(A, there ? texel : texel.yx, 0);
    result = there ? block : block.rbga;
    if (texel.x == texel.y) result.gb = UPPER == 1 ? block.gg : block.bb;
}
