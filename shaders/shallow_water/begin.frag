// S = (x, r, p, s) = (0, b, 0, 0): conjugate gradients start from zero.
//
// A fragment computes one cell. With TIDE they start from the changes of the cells whose elevation is given, where
// nothing is left to be solved; their neighbours have r = b - A x.
// C   from `system`      S   four vectors, a texel for each cell
// state, level   TIDE: (z, u, v, h) of each cell; the elevation of that side, one texel
// Cost per fragment: 1 fetch; TIDE: 12 at most.
// Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems" (1989).

#include "shallow_water/water.glsl"

uniform sampler2D C;
#if TIDE
uniform sampler2D state;
uniform sampler2D level;
#endif

layout(location = 0) out vec4 S_ij;

#if TIDE
float given(ivec2 c) {  // change of a cell, where it is given
    return is_given(c) ? texelFetch(level, ivec2(0), 0).r - cell(state, c).r : 0.0;
}
#endif

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    vec4 own = texelFetch(C, c, 0);
    S_ij = vec4(0.0, own.b, 0.0, 0.0);
#if TIDE
    if (is_given(c)) {
        S_ij.rg = vec2(given(c), 0.0);
        return;
    }
    float west = PERIODIC_X == 0 && c.x == 0 ? 0.0 : texelFetch(C, inside(c - ivec2(1, 0)), 0).r;
    float south = PERIODIC_Y == 0 && c.y == 0 ? 0.0 : texelFetch(C, inside(c - ivec2(0, 1)), 0).g;
    S_ij.g += own.r * given(inside(c + ivec2(1, 0)));
    S_ij.g += west * given(inside(c - ivec2(1, 0)));
    S_ij.g += own.g * given(inside(c + ivec2(0, 1)));
    S_ij.g += south * given(inside(c - ivec2(0, 1)));
#endif
}
