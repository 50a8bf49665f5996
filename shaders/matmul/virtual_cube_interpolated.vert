// The texture coordinates of a layer of the virtual cube, computed at the corners and interpolated between them.
//
// They run along column `slice` of A beside the rows of C, and along row `slice` of B beside the columns of C: the lightly
// shaded areas of the thesis's figure 4.2b. The rasteriser gives each fragment its own, at the middle of a texel.

#include "lib/fullscreen.glsl"

uniform sampler2D A;
uniform sampler2D B;
uniform int slice;  // texel of the inner dimension

out vec2 a_at;
out vec2 b_at;

void main() {
    gl_Position = triangle_corner();
    vec2 place = 0.5 * gl_Position.xy + 0.5;  // 0 to 1 across the target
    float inner = float(slice) + 0.5;
    a_at = vec2(inner / float(textureSize(A, 0).x), place.y);
    b_at = vec2(place.x, inner / float(textureSize(B, 0).y));
}
