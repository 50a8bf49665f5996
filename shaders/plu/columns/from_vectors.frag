// A[i, j] = V[i, j]: a matrix in texels of one element, four of a row, or four of a column, packed.
//
// A fragment computes one 2x2 block of A.
// V   rows x columns, see plu/columns/vectors.glsl      A   rows x columns, packed
// Fetches: 4.

#include "lib/packed.glsl"
#include "plu/columns/vectors.glsl"

uniform sampler2D V;
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 A;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y;
    int j = 2 * texel.x;
    vec4 block = vec4(element(V, i, j), element(V, i, j + 1), element(V, i + 1, j), element(V, i + 1, j + 1));
    A = without_padding(block, texel, shape);
}
