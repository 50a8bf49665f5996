// x[i] = rhs / diagonal, of equations that have lost all their neighbours.
//
// A fragment computes one unknown.
// E   n equations of each system      x   n unknowns
// Cost per fragment: 1 fetch.
// Hockney and Jesshope, "Parallel Computers" (1981), section 5.4.3.

#include "lib/tridiagonal.glsl"

uniform sampler2D E;

layout(location = 0) out float x;

void main() {
    vec4 row = texelFetch(E, place_of(own_row()), 0);
    x = row.g == 0.0 ? NOT_A_NUMBER : quotient(row.a, row.g);
}
