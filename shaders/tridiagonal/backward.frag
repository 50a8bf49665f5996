// x[i] = d - c x[i+1]: one step of the way back in Thomas's algorithm, for all systems at once.
//
// A fragment computes row i of one system, or copies the row below it.
// T      (-, c, d, -) of each row, from `forward`
// X, x   n unknowns
// Cost per fragment: 2 fetches.
// Thomas, "Elliptic problems in linear difference equations over a network" (1949).

#include "lib/tridiagonal.glsl"

uniform sampler2D T;
uniform sampler2D X;
uniform int n;    // equations of a system
uniform int row;  // that is solved

layout(location = 0) out float x;

void main() {
    int i = own_row();
    if (i > row) {
        x = texelFetch(X, place_of(i), 0).r;
        return;
    }
    vec4 own = texelFetch(T, place_of(i), 0);
    float next = i == n - 1 ? 0.0 : texelFetch(X, place_of(i + 1), 0).r;
    float known = own.g * next;
    x = own.b - known;
}
