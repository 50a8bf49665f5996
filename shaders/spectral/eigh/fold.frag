// The slices of a line of sums, added: (y_2r, y_2r+1) of each texel, and x . y and the squares of `group` texels each.
//
// The latter are left in the first texels from `first` on, so that the next pass has few of them to add.
// A fragment computes one texel of the line.
// D   a row of texels for each slice (spectral/eigh/dots.frag)
// Cost per fragment: `slices` fetches; in texels with a sum of a group (group + 1) as many.

uniform sampler2D D;
uniform int slices;
uniform int height;  // texels of the line
uniform int first;   // texel in which it begins
uniform int group;

layout(location = 0) out vec4 sums;

void main() {
    int own = int(gl_FragCoord.x), start = first + (own - first) * group;
    sums = vec4(0.0);
    for (int slice = 0; slice < slices; ++slice) {
        sums.rg += texelFetch(D, ivec2(own, slice), 0).rg;
        for (int r = start; r < min(start + group, height); ++r) sums.ba += texelFetch(D, ivec2(r, slice), 0).ba;
    }
}
