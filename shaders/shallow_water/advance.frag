// z' = z + x, w' = (F - g dt/dx (z'[i+1] - z'[i])) / r: the end of a half step.
//
// A fragment computes one cell. In a periodic direction x = y - q a (y[0] - y[n-1]) / (1 + a (q[0] - q[n-1])), with y and q
// the solutions of both systems and a that of the face that joins the ends.
// state   (z, u, v, h) of each cell
// T       from `coefficients`
// X       changes of z, those of the second systems behind them
// moved   (z', u', v, h), or (z', u, v', h)
// Cost per fragment: 6 fetches; periodic 16.
// Casulli 1990, section 4; Sherman and Morrison (1950).

#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform sampler2D T;
uniform sampler2D X;
uniform float slope;  // g dt / dx

layout(location = 0) out vec4 moved;

#if PERIODIC
float solved(ivec2 c, int which) {
    return texelFetch(X, c + which * SIDE * cells, 0).r;
}

float change(ivec2 c) {
    c = inside(c);
    ivec2 first = c * SIDE;
    ivec2 last = first + NEXT * (cells - 1);
    float a = texelFetch(T, last, 0).r;
    float factor = a * (solved(first, 0) - solved(last, 0)) / (1.0 + a * (solved(first, 1) - solved(last, 1)));
    return solved(c, 0) - factor * solved(c, 1);
}
#else
float change(ivec2 c) {
    return texelFetch(X, inside(c), 0).r;
}
#endif

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    vec4 here = cell(state, c);
    vec4 face = texelFetch(T, c, 0);
    float z = here.r + change(c);
    float next = cell(state, c + NEXT).r + change(c + NEXT);
    float velocity = (face.b - slope * (next - z)) / face.a;
#if PERIODIC == 0
    if (END(c)) velocity = 0.0;
#endif
    moved = here;
    moved.r = z;
    OWN(moved) = velocity;
}
