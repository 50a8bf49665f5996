// The slices of a line of sums, added: (y_2r, y_2r+1) of each texel, and x . y and the squares of GROUP texels each.
//
// The latter are left in the first texels from `first` on, so that the next pass has few of them to add.
// A fragment computes one texel of the line.
// D   a row of texels for each slice (spectral/eigh/dots.frag)
// Cost per fragment: (GROUP + 1) fetches for each slice.
// Fetches: (GROUP + 1) * slices.

#ifndef GROUP
#define GROUP 8  // texels whose sums are added
#endif

uniform sampler2D D;
uniform int slices;
uniform int height;  // texels of the line
uniform int first;   // texel in which it begins

layout(location = 0) out vec4 sums;

void main() {
    int own = int(gl_FragCoord.x), start = first + (own - first) * GROUP;
    sums = vec4(0.0);
    for (int slice = 0; slice < slices; ++slice) {
        sums.rg += texelFetch(D, ivec2(own, slice), 0).rg;
        vec2 found[GROUP];  // all under way at once: a GPU waits for each
        for (int i = 0; i < GROUP; ++i) found[i] = texelFetch(D, ivec2(min(start + i, height - 1), slice), 0).ba;
        for (int i = 0; i < GROUP; ++i) sums.ba += start + i < height ? found[i] : vec2(0.0);
    }
}
