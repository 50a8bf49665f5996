// Q - V (T W): a pair of reflectors applied, H_2k H_2k+1 Q.
//
// A fragment computes one 2x2 block.
// Q   what they are applied to      H   the reflectors, packed, below the diagonal
// T   of each pair (qr/pairs.frag)      W = V^T Q, in `slices` partial sums (qr/project.frag)
// Cost per fragment: 3 fetches and `slices` of sums, 28 flop; above the pair's rows 1 fetch.
// Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder transformations" (1989).

#include "lib/packed.glsl"

uniform sampler2D Q;
uniform sampler2D H;
uniform sampler2D T;
uniform sampler2D W;
uniform int k;        // texel column of the pair
uniform int slices;
uniform ivec2 shape;  // rows and columns of Q

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    result = texelFetch(Q, at(texel), 0);
    if (texel.y < k) return;
    vec4 v = texelFetch(H, at(ivec2(k, texel.y)), 0);
    if (texel.y == k) v = vec4(1.0, 0.0, v.b, 1.0);
    vec4 t = texelFetch(T, at(ivec2(k, 0)), 0);
    vec4 w = vec4(0.0);
    for (int slice = 0; slice < slices; ++slice) w += texelFetch(W, at(ivec2(texel.x, slice)), 0);
    vec4 taken = vec4(t.r * w.rg, t.a * w.ba);
    taken.rg += t.g * w.ba;
    result -= v.rrbb * taken.rgrg;
    result -= v.ggaa * taken.baba;
    result = without_padding(result, texel, shape);
}
