// The texel of y that four listed rows are: each is a point.

#include "lib/wrapped_element.glsl"

#ifndef PLACES_WIDTH
#define PLACES_WIDTH 1  // texels in a row of the list
#endif
#ifndef WIDTH
#define WIDTH 1  // texels in a row of the result
#endif
#ifndef HEIGHT
#define HEIGHT 1  // texels in a column of the result
#endif

uniform isampler2D places;

flat out int listed;  // number in the list

void main() {
    int texel = texelFetch(places, place_of(gl_VertexID, PLACES_WIDTH), 0).r;
    listed = gl_VertexID;
    gl_Position = vec4(2.0 * (vec2(place_of(texel, WIDTH)) + 0.5) / vec2(WIDTH, HEIGHT) - 1.0, 0.0, 1.0);
}
