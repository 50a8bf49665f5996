// One step of the tridiagonal form of a symmetric matrix: A - v w^T - w v^T in what remains behind column k.
//
// Column k holds beta, the entry beside the diagonal, and v below it (its first entry, 1, is implied).
// A fragment computes one 2x2 block. The reflector comes from the vertex stage. Where it is I, v and w are zero, but for
// the implied entry.
// A   n x n, packed      D   y = A x and its sums (spectral/eigh/dots.frag)
// Cost per fragment: 7 fetches and 26 flop.
// Fetches: 7.
// Householder 1958; Golub and Van Loan, "Matrix computations" (2013), section 8.3.1; LAPACK sytd2.

#include "spectral/eigh/column.glsl"

uniform sampler2D A;
uniform sampler2D D;

flat in int k;            // column of the step
flat in vec4 reflection;  // see spectral/eigh/reflection.glsl

vec2 v_of(int r) {
    vec2 v = below(across(A, k, r) * reflection.g, r, k + 1);
    if (2 * r == k + 1) v.x = 1.0;
    if (2 * r == k) v.y = 1.0;
    return v;
}

vec2 w_of(int r, vec2 v) {
    vec2 product = texelFetch(D, ivec2(r, 0), 0).rg - reflection.r * across(A, k + 1, r);
    return below(reflection.b * product - reflection.a * v, r, k);
}

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texelFetch(A, texel, 0);
    vec2 v = v_of(texel.y), v_across = v_of(texel.x);
    vec2 w = w_of(texel.y, v), w_across = w_of(texel.x, v_across);
    if (2 * texel.x + 1 > k && 2 * texel.y + 1 > k) {
        result -= v.xxyy * w_across.xyxy + w.xxyy * v_across.xyxy;
    }
    if (texel.x == k >> 1) {
        float beta = reflection.r;
        vec2 own = (k & 1) == 0 ? result.rb : result.ga;
        if (2 * texel.y > k) own.x = 2 * texel.y == k + 1 ? beta : v.x;
        if (2 * texel.y + 1 > k) own.y = 2 * texel.y == k ? beta : v.y;
        if ((k & 1) == 0) result.rb = own;
        else result.ga = own;
    }
}
