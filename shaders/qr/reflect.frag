// One step of Householder's QR factorisation, two columns of it: both reflectors of the pair, applied to all that
// remains.
//
//     column 2k, 2k + 1      R on and above the diagonal, the reflectors v below it (their first entries, 1, are implied)
//     columns behind them    a - tau v (v . a), for one reflector after the other
//
// A fragment computes one 2x2 block of the new matrix.
// A   m x n, packed: finished columns at the left, finished rows of R at the top, what remains
// D   inner products (qr/dots.frag)
// Cost per fragment: 4 fetches and twice `slices` of sums, 60 flop, 2 roots; of what is finished 1 fetch.
// Golub and Van Loan, "Matrix computations" (2013), section 5.2.1; LAPACK geqr2.

#include "qr/reflector_pair.glsl"

uniform sampler2D A;
uniform sampler2D D;
uniform ivec2 shape;  // rows and columns of A

flat in int k;       // texel column of the pair
flat in int slices;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    vec4 own = texelFetch(A, at(texel), 0);
    result = own;
    if (texel.x < k || texel.y < k) return;
    First one = first_of(A, D, k, slices);
    float alpha = one.top.a - one.below * one.t;
    vec4 at_pair = dots(D, k, slices);
    Reflector second = reflector(alpha, at_pair.a);
    vec4 column = texelFetch(A, at(ivec2(k, texel.y)), 0);
    vec2 v = column.rb * one.h.inverse;                   // the first reflector in the rows of the fragment
    vec2 w = (column.ga - v * one.t) * second.inverse;    // the second one
    if (texel.x == k) {
        result = vec4(v.x, w.x, v.y, w.y);
        if (texel.y == k) result = vec4(one.h.beta, one.top.g - one.t, one.below, second.beta);
    } else {
        vec4 above = texelFetch(A, at(ivec2(texel.x, k)), 0);
        vec4 sums = dots(D, texel.x, slices);
        vec2 t = taken(one, above.rg, sums.rg);
        vec2 lower = above.ba - one.below * t;
        vec2 s = second.tau * (lower + sums.ba * second.inverse);
        if (texel.y == k) {
            result = vec4(above.rg - t, lower - s);
        } else {
            result.rg -= v.x * t;
            result.rg -= w.x * s;
            result.ba -= v.y * t;
            result.ba -= w.y * s;
        }
    }
    result = without_padding(result, texel, shape);
}
