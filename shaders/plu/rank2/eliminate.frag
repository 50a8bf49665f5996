// One step of the Doolittle factorisation, two columns and two rows of it, see plu/doolittle.glsl.
//
// A fragment computes one 2x2 block of the new matrix.
// A   rows x columns, packed: the matrix, or a panel of it that starts at row `top`, before the step
// pivots, blocks   with STACK: for each matrix a column of texels, see stack/search.frag
// Cost per fragment: up to 6 fetches, 16 flop and 4 divisions.
// Fetches: 3 to 6.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.3, equations 4.42 to 4.44, listings 4.5 and 4.6.

#include "plu/doolittle.glsl"

uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = own_texel();
    result = without_padding(reduced(texel), texel, shape);
}
