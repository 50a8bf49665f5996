// H U: vectors of D + rho z z^T, reflected back and in the order of the old columns, each element in closed form.
//
//     u_pq = z_p / (d_p - lambda_q) / norm_q,   e_q for a deflated q      H U = U - 2 w (w^T U), within each group
//
// A fragment computes one 2x2 block; outside of the blocks of the diagonal it is zero. A subset of the columns is `count`
// of them from column `first` on.
// G, R, Z, N   poles, roots, z, norms      L   roots in ascending order      P   positions of the old columns
// Cost per fragment: 8 to 13 fetches and up to 12 flop for each of four elements.
// Gu and Eisenstat 1995.

#include "lib/packed.glsl"
#include "spectral/secular/block.glsl"
#include "spectral/secular/gap.glsl"

uniform sampler2D G;
uniform sampler2D R;
uniform sampler2D Z;
uniform sampler2D N;
uniform sampler2D L;
uniform sampler2D P;
uniform int first;
uniform int count;

layout(location = 0) out vec4 X;

float u(int p, vec4 pole, int q, vec4 root_, float inverse) {  // of pole p and root q
    if (root_.a == 0.0) return p == q ? 1.0 : 0.0;
    if (pole.g == 0.0) return 0.0;
    return -line(Z, p).r / gap(line(G, int(root_.b)).r, root_.g, pole.r) * inverse;
}

float element(int i, int column) {
    Block b = block_of(i);
    int t = first + column;
    if (t < b.start || t >= b.end || i >= n || column >= count) return 0.0;
    int p = int(line(P, i).r), q = int(line(L, t).g);
    vec4 pole = line(G, p), root_ = line(R, q);
    float inverse = line(N, q).r, own = u(p, pole, q, root_, inverse);
    if (pole.b == 0.0) return own;
    int leader = int(pole.a);
    vec4 lead = line(G, leader), at_root = line(G, q);
    float along = lead.b * u(leader, lead, q, root_, inverse);
    if (root_.a == 0.0) along = int(at_root.a) == leader ? at_root.b : 0.0;
    return own - 2.0 * pole.b * along;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    X = BLOCK_OF(element, texel);
}
