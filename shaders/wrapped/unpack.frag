// result[k] = M[origin + i down + j right], k = i columns + j: from the packed layout to the wrapped one.
//
// A fragment computes four elements. The offsets choose what is taken: all of M, its transpose, a block, a diagonal.
// M   packed      result   wrapped
// Cost per fragment: 4 fetches.

#include "lib/packed.glsl"
#include "lib/wrapped.glsl"

uniform sampler2D M;
uniform ivec2 origin;
uniform ivec2 down;
uniform ivec2 right;
uniform int columns;

layout(location = 0) out vec4 result;

void main() {
    result = vec4(0.0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    vec4 texel;
    for (int c = 0; c < 4; ++c) {
        int i = own[c] / columns;
        ivec2 from = origin + i * down + (own[c] - i * columns) * right;
        vec2 pair = row_pair(M, from.x, from.y >> 1);
        texel[c] = (from.y & 1) == 0 ? pair.x : pair.y;
    }
    result = without_spare(texel);
}
