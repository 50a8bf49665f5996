// x[i] = d - c x[i+1], with the row above eliminated: one step of Thomas's algorithm, for all systems at once.
//
//     pivot = diagonal - lower c[i-1], c = upper / pivot, d = (rhs - lower d[i-1]) / pivot
//
// A fragment computes row i of one system, or copies the row above it: what the pass before has solved must be in
// both textures.
// E          n equations of each system
// T, solved  (what is left of the least pivot so far, c, d, 0) of each row
// Cost per fragment: 2 fetches.
// Thomas, "Elliptic problems in linear difference equations over a network" (1949).

#include "lib/tridiagonal.glsl"

uniform sampler2D E;
uniform sampler2D T;
uniform int n;    // equations of a system
uniform int row;  // that is solved

layout(location = 0) out vec4 solved;

void main() {
    int i = own_row();
    if (i < row) {
        solved = texelFetch(T, place_of(i), 0);
        return;
    }
    vec4 before = i == 0 ? vec4(1.0, 0.0, 0.0, 0.0) : texelFetch(T, place_of(i - 1), 0);
    vec4 own = equation(E, i, n);
    float left = least_of(before.r, left_at_first(own));
    vec2 made = eliminated(before.gb, own.r, own.g, own.b, own.a, left);
    solved = vec4(left, made, 0.0);
}
