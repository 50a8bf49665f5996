// The z for which the computed roots are exact: z_i^2 = prod_j (lambda_j - d_i) / prod_j (d_j - d_i) / rho.
//
// Vectors made from it are orthogonal however close the roots are. Factors of one root and of the pole beside it come as a
// quotient, so that no product leaves the range.
// A fragment computes one of them.
// G   poles (d, z, w, leader)      R   roots (lambda, offset, origin, live)      T   (d, e)
// Cost per fragment: 3 fetches, 2 divisions per trip, a trip for each pole of the block.
// Gu and Eisenstat, "A divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem" (1995).

#include "spectral/secular/block.glsl"
#include "spectral/secular/gap.glsl"

uniform sampler2D G;
uniform sampler2D R;
uniform sampler2D T;

layout(location = 0) out vec4 Z;

void main() {
    int p = int(gl_FragCoord.x);
    Block b = block_of(p);
    vec4 own = line(G, p);
    Z = vec4(0.0);
    if (own.g == 0.0) return;
    float product = 1.0, last = 1.0;
    for (int j = b.start; j < b.end; ++j) {
        vec4 root_ = line(R, j);
        if (root_.a == 0.0) continue;
        float above = gap(line(G, int(root_.b)).r, root_.g, own.r), apart = line(G, j).r - own.r;
        if (j < p) product *= above / apart;
        if (j > p) product *= last / apart;
        if (j >= p) last = above;
    }
    float size = sqrt(abs(product * last) / abs(coupling(T, b)));
    Z = vec4(own.g < 0.0 ? -size : size, 0.0, 0.0, 0.0);
}
