// raw[i, j] = packed[i + top, j + left]: one element out of its texel.
//
// A fragment computes one element of a tile of the matrix, in NumPy's C order, ready to be read back.
// packed  rows x columns      raw  tile, one element per texel
// Fetches: 1.

#include "lib/packed.glsl"

uniform sampler2D packed_matrix;
uniform ivec2 corner;  // row and column of the tile's first element

layout(location = 0) out float element;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = texel.y + corner.x;
    int j = texel.x + corner.y;
    vec2 pair = row_pair(packed_matrix, i, j >> 1);
    element = (j & 1) == 0 ? pair.x : pair.y;
}
