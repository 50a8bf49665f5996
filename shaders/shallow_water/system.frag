// C = (a at the + face along x, a at the + face along y, -div(fluxes), 0): the five-point system of a semi-implicit step.
//
//     x - [a (x[i+1] - x[i])]|_{i-1/2}^{i+1/2} - [b (x[j+1] - x[j])]|_{j-1/2}^{j+1/2} = -div
//
// A fragment computes one equation.
// U, V   from `coefficients` with THETA, of the + faces along x and along y
// C      an equation for each cell
// Cost per fragment: 4 fetches.
// Casulli 1990, section 3; Casulli and Cattani 1994 (theta).

#include "shallow_water/water.glsl"

uniform sampler2D U;
uniform sampler2D V;

layout(location = 0) out vec4 system_ij;

float before(sampler2D A, ivec2 c, bool wall) {
    return wall ? 0.0 : texelFetch(A, inside(c), 0).g;
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    vec4 u = texelFetch(U, c, 0);
    vec4 v = texelFetch(V, c, 0);
    float div = u.g - before(U, c - ivec2(1, 0), PERIODIC_X == 0 && c.x == 0);
    div += v.g - before(V, c - ivec2(0, 1), PERIODIC_Y == 0 && c.y == 0);
    system_ij = vec4(u.r, v.r, -div, 0.0);
}
