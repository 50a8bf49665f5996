// C += A[:, stripe] A[:, stripe]^T: a stripe of columns of A adds its share to every element of C.
//
// A fragment computes four elements of a column of C, rows 4y to 4y + 3, and the blender adds them to what the stripes
// before have left: each element is added to in the order of the stripes, where atomic additions come in any order.
//
//     four rows of a column in a texel      C[4y..4y+3, x]  +=  A[4y..4y+3, k] A[x, k]          for each k of the stripe
//     TRANSPOSED: four columns of a row     C[4y+c, x]      +=  A[4y+c, 4t..4t+3] . A[x, 4t..4t+3]   for each t of it
//
// A   rows/4 x inner; with TRANSPOSED rows x inner/4; both filled up with zeros, see packing/to_quads.frag
// C   rows/4 x rows
// Cost per fragment: 2 fetches and 8 flop for each column; with TRANSPOSED 5 fetches and 32 flop for four of them; 4 flop
// of the blender.
// Fetches: count * (2 + 3 * TRANSPOSED).
// "COMP 633 Parallel Computing, PA2" (course report, 2013), v008; with TRANSPOSED v009.

#ifndef TRANSPOSED
#define TRANSPOSED 0  // four rows of a column of A to a texel (0), or four columns of a row (1)
#endif

uniform sampler2D A;
uniform int first;  // first column of the stripe; with TRANSPOSED first texel of columns
uniform int count;  // columns of the stripe; with TRANSPOSED texels of columns

layout(location = 0) out vec4 share;

#if TRANSPOSED == 0
float of_quad(vec4 quad, int i) {
    vec2 pair = (i & 2) == 0 ? quad.rg : quad.ba;
    return (i & 1) == 0 ? pair.x : pair.y;
}
#endif

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    share = vec4(0.0);
    for (int t = first; t < first + count; ++t) {
#if TRANSPOSED
        vec4 across = texelFetch(A, ivec2(t, texel.x), 0);
        share.r += dot(texelFetch(A, ivec2(t, 4 * texel.y), 0), across);
        share.g += dot(texelFetch(A, ivec2(t, 4 * texel.y + 1), 0), across);
        share.b += dot(texelFetch(A, ivec2(t, 4 * texel.y + 2), 0), across);
        share.a += dot(texelFetch(A, ivec2(t, 4 * texel.y + 3), 0), across);
#else
        share += texelFetch(A, ivec2(t, texel.y), 0) * of_quad(texelFetch(A, ivec2(t, texel.x >> 2), 0), texel.x);
#endif
    }
}
