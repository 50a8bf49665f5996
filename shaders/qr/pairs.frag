// T of each pair of reflectors, H_2k H_2k+1 = I - V T V^T: the compact WY form of two columns.
//
//     T = [ tau_0   -tau_0 tau_1 (v_0 . v_1) ]     tau = 2 / (v . v), so that I - tau v v^T is orthogonal to working
//         [   0               tau_1          ]     precision whatever rounding has done to v; 0 where v is zero
//
// A fragment computes T of one pair, (t_00, t_01, 0, t_11).
// H   m x n, packed: the reflectors below the diagonal, R above it
// Cost per fragment: 1 fetch and 12 flop per trip, up to ceil(m/2) trips.
// Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder transformations" (1989).

#include "qr/cascade.glsl"
#include "lib/packed.glsl"
#include "lib/divide.glsl"

uniform sampler2D H;
uniform int height;  // of H, in texels

layout(location = 0) out vec4 pair;

const int AT_ONCE = 8;  // fetches under way at once: a GPU waits for each

float factor_of(float square) {  // square: of v, but for its first entry
    return square == 0.0 ? 0.0 : quotient(2.0, 1.0 + square);
}

void main() {
    int k = own_texel().x;
    float below = texelFetch(H, at(ivec2(k, k)), 0).b;
    Cascade sum = empty();  // squares of both, and their product
    add(sum, vec4(below * below, 0.0, below, 0.0), 0);
    for (int y = k + 1; y < height; y += AT_ONCE) {
        vec4 v[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) v[i] = texelFetch(H, at(ivec2(k, min(y + i, height - 1))), 0);
        for (int i = 0; i < AT_ONCE; ++i) {
            if (y + i < height) add(sum, vec4(v[i].rgr * v[i].rgg + v[i].bab * v[i].baa, 0.0), y + i - k);
        }
    }
    vec3 sums = total(sum).rgb;
    float first = factor_of(sums.x);
    float second = factor_of(sums.y);
    pair = vec4(first, -first * second * sums.z, 0.0, second);
}
