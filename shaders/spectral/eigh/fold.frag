// The slices of a line of sums, added.
//
// A fragment computes one texel of the line.
// D   a row of texels for each slice
// Cost per fragment: `slices` fetches.
// Fetches: slices.

uniform sampler2D D;
uniform int slices;

layout(location = 0) out vec4 sums;

void main() {
    sums = vec4(0.0);
    for (int slice = 0; slice < slices; ++slice) sums += texelFetch(D, ivec2(gl_FragCoord.x, slice), 0);
}
