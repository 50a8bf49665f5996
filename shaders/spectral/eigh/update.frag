// One step of the tridiagonal form of a symmetric matrix: A - v w^T - w v^T in what remains behind column k.
//
// Column k holds beta, the entry beside the diagonal, and v below it (its first entry, 1, is implied).
// A fragment computes one 2x2 block. The reflector comes from the vertex stage, or v and w from spectral/eigh/vectors.frag
// (VECTORS). Where the reflector is I, v and w are zero, but for the implied entry.
// A   n x n, packed      D   y = A x and its sums (spectral/eigh/dots.frag)      W   with VECTORS: v and w
// Cost per fragment: 7 fetches and 26 flop; with VECTORS 3 fetches and 16 flop, in column k 4.
// Fetches: 7 - 4 * VECTORS to 7 - 3 * VECTORS.
// Householder 1958; Golub and Van Loan, "Matrix computations" (2013), section 8.3.1; LAPACK sytd2.

#ifndef VECTORS
#define VECTORS 0  // v and w come in a line of texels (0, 1)
#endif

#if VECTORS
uniform sampler2D A;
uniform sampler2D W;

flat in int k;
#else
#include "spectral/eigh/pair.glsl"
#endif

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texelFetch(A, texel, 0);
#if VECTORS
    vec4 down = texelFetch(W, ivec2(texel.y, 0), 0), along = texelFetch(W, ivec2(texel.x, 0), 0);
    vec2 v = down.rg, w = down.ba, v_across = along.rg, w_across = along.ba;
#else
    vec2 v = v_of(texel.y), v_across = v_of(texel.x);
    vec2 w = w_of(texel.y, v), w_across = w_of(texel.x, v_across);
#endif
    if (2 * texel.x + 1 > k && 2 * texel.y + 1 > k) {
        result -= v.xxyy * w_across.xyxy + w.xxyy * v_across.xyxy;
    }
    if (texel.x == k >> 1) {
#if VECTORS
        float beta = texelFetch(W, ivec2(textureSize(W, 0).x - 1, 0), 0).r;
#else
        float beta = reflection.r;
#endif
        vec2 own = (k & 1) == 0 ? result.rb : result.ga;
        if (2 * texel.y > k) own.x = 2 * texel.y == k + 1 ? beta : v.x;
        if (2 * texel.y + 1 > k) own.y = 2 * texel.y == k ? beta : v.y;
        if ((k & 1) == 0) result.rb = own;
        else result.ga = own;
    }
}
