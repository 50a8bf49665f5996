// A field of a simulation as a packed matrix: z, u, v or h.
//
// A fragment computes one texel, four elements. The faces before the first cells are walls: zero; of a periodic
// direction they are those behind the last cells.
// state   (z, u, v, h) of each cell
// field   packed: FIELD 0 z, 3 h: nx x ny; 1 u: nx+1 x ny; 2 v: nx x ny+1
// Cost per fragment: 4 fetches.
// Harlow and Welch, "Numerical calculation of time-dependent viscous incompressible flow" (1965): the staggered grid.

#ifndef FIELD
#define FIELD 0  // z, u, v, h (0 to 3)
#endif

#include "lib/packed.glsl"
#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform ivec2 shape;  // rows and columns of the field

layout(location = 0) out vec4 field;

float element(int i, int j) {
    if (i >= shape.x || j >= shape.y) return 0.0;
#if FIELD == 1
    return u_at(state, ivec2(i - 1, j));
#elif FIELD == 2
    return v_at(state, ivec2(i, j - 1));
#else
    return cell(state, ivec2(i, j))[FIELD];
#endif
}

void main() {
    field = BLOCK_OF(element, ivec2(gl_FragCoord.xy));
}
