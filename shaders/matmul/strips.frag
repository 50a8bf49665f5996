// B in the order in which matmul/panel_broadcast.frag reads it: four consecutive inner indices of one column in a texel.
//
// Column j is at (j div STRIP, j mod STRIP) of a strip; strip s holds inner indices 4s to 4s+3.
// A fragment computes one texel. Beyond the matrix it is zero.
// B   inner x columns, packed
// Fetches: 0 to 2.
// Moravanszky, "Dense matrix algebra on the GPU" (2003): four elements of a column in a texel.

#ifndef STRIP
#define STRIP 8  // height of a strip (8, 16)
#endif

uniform sampler2D B;
uniform ivec2 size;  // height and width of B in texels

layout(location = 0) out vec4 strip;

vec2 row_pair_of_column(int y, int j) {  // rows 2y, 2y+1 of column j
    if (y >= size.x || (j >> 1) >= size.y) return vec2(0.0);
    vec4 block = texelFetch(B, ivec2(j >> 1, y), 0);
    return (j & 1) == 0 ? block.rb : block.ga;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int j = STRIP * texel.x + texel.y % STRIP;
    int y = 2 * (texel.y / STRIP);
    strip = vec4(row_pair_of_column(y, j), row_pair_of_column(y + 1, j));
}
