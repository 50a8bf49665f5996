// z' = z + x, u' = u1 - theta g dt/dx (x[i+1] - x[i]) / r, v' likewise: the end of a semi-implicit step.
//
// A fragment computes one cell.
// state   (z, u, v, h) of each cell      U, V   from `coefficients` with THETA      S   (x, -, -, -)
// moved   (z', u', v', h)
// Cost per fragment: 6 fetches.
// Casulli 1990, section 3; Casulli and Cattani 1994 (theta).

#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform sampler2D U;
uniform sampler2D V;
uniform sampler2D S;
uniform vec2 slopes;  // theta g dt / dx, theta g dt / dy

layout(location = 0) out vec4 moved;

float change(ivec2 c) {
    return texelFetch(S, inside(c), 0).r;
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    vec4 here = texelFetch(state, c, 0);
    vec4 along_x = texelFetch(U, c, 0);
    vec4 along_y = texelFetch(V, c, 0);
    float x = change(c);
    float u = along_x.b - slopes.x * (change(c + ivec2(1, 0)) - x) / along_x.a;
    float v = along_y.b - slopes.y * (change(c + ivec2(0, 1)) - x) / along_y.a;
    moved = vec4(here.r + x, u, v, here.a);
}
