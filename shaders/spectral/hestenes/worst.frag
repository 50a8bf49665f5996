// The largest cosine of a sweep: (1 where the sweeps stop, or 0; the cosine, 0, 0). NaN stops.
//
// products  a line of `count` texels, of the last step, see `gram`
// Cost per fragment: `count` fetches.

#include "lib/packed.glsl"

uniform sampler2D products;
uniform int count;
uniform float enough;  // cosine at which the sweeps stop

layout(location = 0) out vec4 done;

void main() {
    float worst = 0.0;
    for (int x = 0; x < count; ++x) {
        vec4 old = texelFetch(products, at(ivec2(x, 0)), 0);
        float size = sqrt(old.r) * sqrt(old.g);
        worst = max(worst, max(old.a, size > 0.0 ? abs(old.b) / size : 0.0));
    }
    done = vec4(worst > enough ? 0.0 : 1.0, worst, 0.0, 0.0);
}
