// The texel of y that an entry of the matrix belongs to: each entry is a point.

#include "lib/wrapped_element.glsl"

#ifndef A_WIDTH
#define A_WIDTH 1  // texels in a row of A
#endif
#ifndef WIDTH
#define WIDTH 1  // texels in a row of the result
#endif
#ifndef HEIGHT
#define HEIGHT 1  // texels in a column of the result
#endif

uniform isampler2D places;

flat out ivec4 entry;  // texel of A, place in y, place in x

void main() {
    ivec2 at = place_of(gl_VertexID, A_WIDTH);
    ivec2 place = texelFetch(places, at, 0).rg;
    entry = ivec4(at, place);
    vec2 texel = vec2((place.r >> 2) & 0x7fff, (place.r >> 17) & 0x7fff);
    gl_Position = vec4(2.0 * (texel + 0.5) / vec2(WIDTH, HEIGHT) - 1.0, 0.0, 1.0);
}
