// state[i, j] = (z, u, v, h): the fields of a simulation, each a packed matrix, become one texel a cell.
//
// A fragment computes one cell. Of velocities the face behind the cell is taken: u[i+1, j], v[i, j+1].
// z, h    nx x ny, packed      u   nx+1 x ny      v   nx x ny+1
// state   a texel for each cell, i across
// Cost per fragment: 4 fetches.
// Harlow and Welch, "Numerical calculation of time-dependent viscous incompressible flow" (1965): the staggered grid.

#include "lib/packed.glsl"

uniform sampler2D z;
uniform sampler2D u;
uniform sampler2D v;
uniform sampler2D h;

layout(location = 0) out vec4 state;

float element(sampler2D M, int i, int j) {
    vec2 pair = row_pair(M, i, j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    state = vec4(element(z, c.x, c.y), element(u, c.x + 1, c.y), element(v, c.x, c.y + 1), element(h, c.x, c.y));
}
