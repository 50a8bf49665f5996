// What the equations need at the + face of a cell: depth, friction, and the velocity that the flow carries there.
//
//     r = 1 + dt gamma, gamma = g sqrt(u^2 + v^2) / (C^2 H), F = w at the foot of the streamline + dt (Coriolis + wind)
//     ADI     (mu H / r, sigma H F / r, F, r)                      mu = g dt^2 / (2 dx^2), sigma = dt / (2 dx)
//     THETA   (theta^2 2 mu H / r, flux, w1, r)    w1 = (F - g dt/dx (z[i+1] - z[i])) / r,
//                                                  flux = dt/dx H (theta w1 + (1 - theta) w)
//
// A fragment computes one face; w is u (ALONG 0) or v. The streamline is followed back from the face through the
// velocities as they are, in STEPS straight steps, and w is interpolated at its foot between the four around it: weights
// are in 0 to 1, so there are no new extremes. What is computed with is the displacement, in whole cells and a fraction:
// far from the origin a position would lose its digits.
// state   (z, u, v, h) of each cell
// face    four numbers, as above; (0, 0, 0, 1) on walls
// Cost per fragment: 6 fetches; with CONVECTION and one step 10.
// Casulli, "Semi-implicit finite difference methods for the two-dimensional shallow water equations" (1990), section 3;
// Casulli and Cattani (1994) for theta.

#ifndef CONVECTION
#define CONVECTION 1  // the flow carries its velocity (1), or not (0)
#endif
#ifndef STEPS
#define STEPS 1  // straight pieces of a streamline
#endif
#ifndef THETA
#define THETA 0  // for the half steps of ADI (0), or for the semi-implicit step (1)
#endif

#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform vec3 along;      // mu, sigma, g dt/dx in the direction of the pass
#if CONVECTION
uniform vec2 reach;      // dt / dx, dt / dy over STEPS: cells that a velocity of 1 passes in a piece
#endif
uniform vec4 forces;     // dt g / C^2, dt f with the sign of this component, dt times the wind's stress, theta

layout(location = 0) out vec4 face;

float own_at(ivec2 c) { return ALONG == 1 ? v_at(state, c) : u_at(state, c); }
float other_at(ivec2 c) { return ALONG == 1 ? u_at(state, c) : v_at(state, c); }

// Between four values, those at (0, 0), (1, 0), (0, 1) and (1, 1).
float between(vec4 values, vec2 part) {
    return mix(mix(values.x, values.y, part.x), mix(values.z, values.w, part.x), part.y);
}

// A component between the four faces around c + d; of their grid c is a place.
float own_between(ivec2 c, vec2 d) {
    ivec2 f = c + ivec2(floor(d));
    return between(vec4(own_at(f), own_at(f + ivec2(1, 0)), own_at(f + ivec2(0, 1)), own_at(f + 1)), d - floor(d));
}

float other_between(ivec2 c, vec2 d) {
    ivec2 f = c + ivec2(floor(d));
    return between(vec4(other_at(f), other_at(f + ivec2(1, 0)), other_at(f + ivec2(0, 1)), other_at(f + 1)), d - floor(d));
}

// (u, v) out of the component along the pass and the other one.
vec2 velocity_of(float own, float other) { return ALONG == 1 ? vec2(other, own) : vec2(own, other); }

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    if (PERIODIC == 0 && END(c)) {
        face = vec4(0.0, 0.0, 0.0, 1.0);
        return;
    }
    vec4 here = cell(state, c);
    vec4 next = cell(state, c + NEXT);
    float depth = depth_at_face(here, next);
    float own = OWN(here);
    float other = 0.25 * ((other_at(c) + other_at(c + NEXT)) + (other_at(c - SIDE) + other_at(c + NEXT - SIDE)));
    float carried = own;
#if CONVECTION
    vec2 most = vec2(cells + 1);
    vec2 foot = clamp(-reach * velocity_of(own, other), -most, most);
    for (int i = 1; i < STEPS; ++i) {
        vec2 velocity = velocity_of(own_between(c, foot), other_between(c - SIDE, foot + 0.5));
        foot = clamp(foot - reach * velocity, -most, most);
    }
    carried = own_between(c, foot);
#endif
    carried += forces.y * other;
    carried += forces.z / depth;
    float r = 1.0 + forces.x * sqrt(own * own + other * other) / depth;
    float alpha = depth / r;
    face = vec4(along.x * alpha, along.y * alpha * carried, carried, r);
    if (THETA == 1) {
        float first = (carried - along.z * (next.r - here.r)) / r;
        float flux = 2.0 * along.y * depth * mix(own, first, forces.w);
        face = vec4(2.0 * forces.w * forces.w * along.x * alpha, flux, first, r);
    }
}
