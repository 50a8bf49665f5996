// The pivot rows of step k (the step of the pass) of a small matrix, which each corner of the triangle searches itself,
// and the constants of their 2x2 block.

#include "lib/fullscreen.glsl"
#include "lib/pivot_search.glsl"

uniform sampler2D A;
uniform ivec2 shape;  // rows and columns of A

flat out int k;  // texel column of the step
flat out ivec2 exchange;
flat out vec4 block;

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    search_pivots(A, k, shape.x, exchange, block);
}
