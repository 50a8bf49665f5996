// The pivot rows of step k (the step of the pass) of a panel, out of their candidates, and the constants of their 2x2
// block, as in plu/rank2/eliminate.vert.

#ifndef PAIR
#define PAIR 0  // candidates are pairs of rows (1), or rows for column 2k+1, and all of them name p (0)
#endif
#ifndef BESIDE
#define BESIDE 0  // the candidates are beside the panel, where the step before has left them (1)
#endif

#include "lib/fullscreen.glsl"
#include "lib/pivots.glsl"

uniform sampler2D A;
uniform sampler2D candidates;
uniform int chunk;    // texels that one fragment has searched
uniform int top;      // first row of the panel
uniform ivec2 shape;  // rows and columns of the panel's matrix

flat out int k;
flat out ivec2 exchange;
flat out vec4 block;
flat out vec4 record;  // (p, q, norm, largest entry seen)

void main() {
    gl_Position = triangle_corner();
    k = step_of_pass();
    int r = top + 2 * k;
    ivec2 first = BESIDE == 1 ? ivec2((shape.y + 1) >> 1, r >> 1) : ivec2(k, 0);
    record = factor_pivots(candidates, first, r, shape.x, chunk, PAIR == 1);
    exchange = ivec2(record.xy);
    block = pivot_block(A, k, r, exchange);
}
