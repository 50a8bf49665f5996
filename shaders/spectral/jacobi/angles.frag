// angles = the rotation of each pair, (sine, tau, tangent, 0), from the texels of the diagonal.
//
// A       packed
// angles  a row of texels
// Cost per fragment: 1 fetch, a rotation.

#include "lib/packed.glsl"
#include "spectral/jacobi/rotation.glsl"

uniform sampler2D A;

layout(location = 0) out vec4 angle;

void main() {
    vec4 b = texelFetch(A, at(ivec2(own_texel().x)), 0);
    Rotation r = rotation(b.r, b.g, b.a);
    angle = vec4(r.s, r.tau, r.t, 0.0);
}
