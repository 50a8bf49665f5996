// y[i] = z[p_i]: a vector put back into order after its rows were sorted.
//
// A fragment computes four consecutive elements.
// x       z, wrapped        places  where each element of y stands in z        y  wrapped
// Cost per fragment: 5 fetches.
// Fetches: 5.
// Kreutzer et al. (2014), see `sell.frag`, section 3.2.

#ifndef ROWS
#define ROWS 1  // elements of y
#endif

uniform sampler2D x;
uniform isampler2D places;

layout(location = 0) out vec4 y;

#include "lib/sparse.glsl"

void main() {
    ivec4 place = texelFetch(places, ivec2(gl_FragCoord.xy), 0);
    vec4 z = vec4(x_at(place.r), x_at(place.g), x_at(place.b), x_at(place.a));
    int left = ROWS - 4 * own_texel();  // what is behind the last element is zero
    y = vec4(left > 0 ? z.r : 0.0, left > 1 ? z.g : 0.0, left > 2 ? z.b : 0.0, left > 3 ? z.a : 0.0);
}
