// W = (w, r r, w r, 0), w = A r: the five-point product of conjugate gradients, and the terms of two dot products.
//
// A fragment computes one cell. With TIDE cells of given elevation are no unknowns: there r and w are zero.
// C   from `system`      S   (x, r, p, s)      W   a texel for each cell
// Cost per fragment: 8 fetches.
// Chronopoulos and Gear 1989.

#include "shallow_water/water.glsl"

uniform sampler2D C;
uniform sampler2D S;

layout(location = 0) out vec4 W_ij;

float r_at(ivec2 c) {
    return texelFetch(S, inside(c), 0).g;
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    W_ij = vec4(0.0);
    if (is_given(c)) return;
    vec4 own = texelFetch(C, c, 0);
    float west = PERIODIC_X == 0 && c.x == 0 ? 0.0 : texelFetch(C, inside(c - ivec2(1, 0)), 0).r;
    float south = PERIODIC_Y == 0 && c.y == 0 ? 0.0 : texelFetch(C, inside(c - ivec2(0, 1)), 0).g;
    float r = r_at(c);
    float w = r;
    float term = own.r * (r_at(c + ivec2(1, 0)) - r);
    w -= term;
    term = west * (r - r_at(c - ivec2(1, 0)));
    w += term;
    term = own.g * (r_at(c + ivec2(0, 1)) - r);
    w -= term;
    term = south * (r - r_at(c - ivec2(0, 1)));
    w += term;
    W_ij = vec4(w, r * r, w * r, 0.0);
}
