// Rows that a panel's exchanges have brought to the top, gathered from where they were.
//
// A fragment computes four rows of one column: texel (j div 8, 8 quad + j mod 8) holds rows top + 4 quad and the next
// three, the layout of matmul/strips.frag.
// S0 ... S3   the matrix before the exchanges, see lib/strips.glsl
// panel_order the panel's texture (plu/blocked/order.glsl)
// Fetches: 6.

#include "lib/strips.glsl"
#include "plu/blocked/order.glsl"

uniform int height;  // rows of the matrix

layout(location = 0) out vec4 four;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = 8 * texel.x + (texel.y & 7);
    int i = top + 4 * (texel.y >> 3);
    ivec4 source = sources(i);
    four.r = i < height ? strip_element(source.r, j) : 0.0;
    four.g = i + 1 < height ? strip_element(source.g, j) : 0.0;
    four.b = i + 2 < height ? strip_element(source.b, j) : 0.0;
    four.a = i + 3 < height ? strip_element(source.a, j) : 0.0;
}
