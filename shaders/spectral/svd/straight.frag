// Q with the signs of R's diagonal in its columns: as the half was, made orthonormal.
//
// Q, R   packed; below R's diagonal there may be anything
// Cost per fragment: 2 fetches.

#include "lib/packed.glsl"

uniform sampler2D Q;
uniform sampler2D R;
uniform int side;  // texels of R's diagonal; columns of Q beyond it stay

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = own_texel();
    vec2 diagonal = texelFetch(R, at(ivec2(min(own.x, side - 1))), 0).ra;
    if (own.x >= side) diagonal = vec2(1.0);
    result = texelFetch(Q, at(own), 0) * mix(vec2(1.0), vec2(-1.0), lessThan(diagonal, vec2(0.0))).rgrg;
}
