// V[i, j] = A[i, j]: a packed matrix, copied into texels of one element, four of a row, or four of a column.
//
// A fragment computes one texel of V; beyond the matrix it is zero.
// A   rows x columns, packed      V   rows x columns, see plu/columns/vectors.glsl
// Cost per fragment: 1 fetch for each element.
// Fetches: 1 to ROWS * COLUMNS.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 3.1 and figure 3.1: the packings;
// Moravanszky, "Dense matrix algebra on the GPU" (2003): four elements of a row or column.

#include "lib/packed.glsl"
#include "plu/columns/vectors.glsl"

uniform sampler2D A;
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 V;

float packed_element(int i, int j) {
    if (i >= shape.x || j >= shape.y) return 0.0;
    vec2 pair = row_pair(A, i, j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 elements = vec4(0.0);  // GLSL ES takes no computed index into an output
    for (int lane = 0; lane < LANES; ++lane) elements[lane] = packed_element(row_of(texel, lane), column_of(texel, lane));
    V = elements;
}
