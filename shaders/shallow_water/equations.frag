// E = (-a[i-1/2], 1 + a[i-1/2] + a[i+1/2], -a[i+1/2], c[i]): the tridiagonal systems of a half step, for the change of z.
//
//     c[i] = - rho (H w)|_{j-1/2}^{j+1/2} - (sigma alpha F)|_{i-1/2}^{i+1/2} + a[i+1/2] (z[i+1] - z[i]) - a[i-1/2] (z[i] - z[i-1])
//
// with w the other component and a = mu alpha. Solved for the change, not for z itself: a lake at rest has c = 0 and stays
// at rest bit for bit. A fragment computes one equation. With a periodic direction the face that joins both ends is left
// out of the matrix, B; the true one is B + a e e^T, e = (1, 0, ..., 0, -1), so a second system B q = e follows behind the
// cells, for Sherman and Morrison's formula in `advance`. With TIDE the cells of one side are given their elevation.
// state   (z, u, v, h) of each cell
// T       from `coefficients`, of the + faces
// level   TIDE: the elevation of that side, one texel
// E       an equation for each cell; of periodic directions a second one behind them
// Cost per fragment: 7 fetches.
// Casulli 1990, section 4; Brodtkorb 2007, section 5.1.2, with its equations (5.3) to (5.7) put right.

#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform sampler2D T;
#if TIDE
uniform sampler2D level;
#endif
uniform float rho;  // dt / (2 dy), across the direction of the pass

layout(location = 0) out vec4 equation;

// (velocity of the other component, depth) at the face behind c
vec2 face_behind(ivec2 c) {
#if ALONG
    float velocity = u_at(state, c);
#else
    float velocity = v_at(state, c);
#endif
    return vec2(velocity, depth_at_face(cell(state, c), cell(state, c + SIDE)));
}

// H w of one face less that of another. As sums times differences it is 0 where both faces are alike; a compiler that
// fuses a * b - c * d makes a rounding error of that, which drives waves in a uniform flow.
float difference_of_fluxes(vec2 far, vec2 near) {
    vec2 sum = far + near;
    vec2 difference = far - near;
    return 0.5 * (sum.y * difference.x + difference.y * sum.x);
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    bool second = any(greaterThanEqual(c, cells));
    if (second) c -= SIDE * cells;
    vec4 here = cell(state, c);
    vec4 after = texelFetch(T, c, 0);
    vec4 before = vec4(0.0, 0.0, 0.0, 1.0);
#if PERIODIC == 0
    if (!START(c)) before = texelFetch(T, c - NEXT, 0);
#else
    before = texelFetch(T, inside(c - NEXT), 0);
#endif
    float change = rho * difference_of_fluxes(face_behind(c), face_behind(c - SIDE));
    float rhs = -change;
    rhs -= after.g - before.g;
    change = after.r * (cell(state, c + NEXT).r - here.r);
    rhs += change;
    change = before.r * (here.r - cell(state, c - NEXT).r);
    rhs -= change;
#if PERIODIC
    if (START(c)) before.r = 0.0;
    if (END(c)) after.r = 0.0;
    if (second) rhs = START(c) ? 1.0 : (END(c) ? -1.0 : 0.0);
#endif
    equation = vec4(-before.r, 1.0 + before.r + after.r, -after.r, rhs);
#if TIDE
    if (is_given(c)) equation = vec4(0.0, 1.0, 0.0, second ? 0.0 : texelFetch(level, ivec2(0), 0).r - here.r);
#endif
}
