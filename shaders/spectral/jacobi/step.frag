// One step of Jacobi's method: all n / 2 rotations of pairs of rows and columns, and the pairs of the next step.
//
// A texel of the diagonal is the 2 x 2 block that a rotation makes diagonal. A fragment computes a texel of the next A and
// of the next V: each element comes from a texel of the old A, turned by the rotations of its rows and its columns. Of A
// the upper half is read, so that it stays symmetric bit by bit.
// A       packed, n x n, n even         next_A
// V       packed, n columns             next_V
// angles  a row of texels, if ANGLES: see `angles`
// Cost per fragment: 4 fetches of A, 4 of its diagonal or of the angles, 2 of V; 60 flop, and 4 rotations without ANGLES.
// Brent and Luk 1985; Rutishauser 1966.

#ifndef ANGLES
#define ANGLES 0  // rotations are made anew (0), or read (1)
#endif

#include "lib/packed.glsl"
#include "spectral/jacobi/rotation.glsl"
#include "spectral/jacobi/tournament.glsl"

uniform sampler2D A;
uniform sampler2D V;
uniform int n;
#if ANGLES
uniform sampler2D angles;
#endif

layout(location = 0) out vec4 next_A;
layout(location = 1) out vec4 next_V;

Rotation rotation_of(int pair) {
#if ANGLES
    vec3 r = texelFetch(angles, at(ivec2(pair, 0)), 0).rgb;
    return Rotation(r.r, r.g, r.b);
#else
    vec4 b = texelFetch(A, at(ivec2(pair)), 0);
    return rotation(b.r, b.g, b.a);
#endif
}

// Element (p, q) of the turned matrix.
float element(int p, int q, Rotation rp, Rotation rq) {
    int y = p >> 1;
    int x = q >> 1;
    bool below = y > x;
    vec4 b = texelFetch(A, at(below ? ivec2(y, x) : ivec2(x, y)), 0);
    if (x == y && p != q) return rp.t == 0.0 ? b.g : 0.0;  // left alone, or made zero
    if (x == y) return (p & 1) == 0 ? b.r - rp.t * b.g : b.a + rp.t * b.g;
    // Columns first, then rows, of the upper half: below the diagonal they are the other way round.
    vec2 half_turned = below ? turned(b.rb, b.ga, rp, p & 1) : turned(b.rb, b.ga, rq, q & 1);
    return below ? turned(half_turned.x, half_turned.y, rq, q & 1) : turned(half_turned.x, half_turned.y, rp, p & 1);
}

// Column q of two rows of the turned V.
vec2 vectors(int q, Rotation r, int y) {
    vec4 b = texelFetch(V, at(ivec2(q >> 1, y)), 0);
    return turned(b.rb, b.ga, r, q & 1);
}

void main() {
    ivec2 own = own_texel();
    int p0 = source(2 * own.y, n);
    int p1 = source(2 * own.y + 1, n);
    int q0 = source(2 * own.x, n);
    int q1 = source(2 * own.x + 1, n);
    Rotation rq0 = rotation_of(q0 >> 1);
    Rotation rq1 = rotation_of(q1 >> 1);
    Rotation rp0 = rotation_of(p0 >> 1);
    Rotation rp1 = rotation_of(p1 >> 1);
    next_A = vec4(element(p0, q0, rp0, rq0), element(p0, q1, rp0, rq1),
                  element(p1, q0, rp1, rq0), element(p1, q1, rp1, rq1));
    vec2 left = vectors(q0, rq0, own.y);
    vec2 right = vectors(q1, rq1, own.y);
    next_V = vec4(left.x, right.x, left.y, right.y);
}
