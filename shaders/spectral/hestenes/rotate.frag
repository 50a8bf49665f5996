// One step of the one-sided method: the columns of every pair turned until they are orthogonal, and the pairs of the next step.
//
// A        packed, n columns, n even
// products a line of texels, see `gram`
// next     packed
// Cost per fragment: 4 fetches, 2 rotations.
// Hestenes 1958; Brent and Luk 1985.

#include "lib/packed.glsl"
#include "spectral/jacobi/rotation.glsl"
#include "spectral/jacobi/tournament.glsl"

uniform sampler2D A;
uniform sampler2D products;
uniform int n;

layout(location = 0) out vec4 next;

vec2 column(int q, int y) {  // of the turned matrix
    vec3 d = texelFetch(products, at(ivec2(q >> 1, 0)), 0).rgb;
    vec4 b = texelFetch(A, at(ivec2(q >> 1, y)), 0);
    return turned(b.rb, b.ga, rotation(d.r, d.b, d.g), q & 1);
}

void main() {
    ivec2 own = own_texel();
    vec2 left = column(source(2 * own.x, n), own.y);
    vec2 right = column(source(2 * own.x + 1, n), own.y);
    next = vec4(left.x, right.x, left.y, right.y);
}
