// The slices of the sums of a step, added; and x . S x, for GROUP texels of S x at a time.
//
//     texel i                           see spectral/eigh/panel_dots.frag
//     texel j + 1 + side + g            x . S x, of group g
//     texel j + 1 + side + groups + q   two rows of each half of S x
//
// A fragment computes one texel of the line.
// D   a row of texels for each slice      P   see spectral/eigh/panel.glsl
// Cost per fragment: SLICES fetches; of a group GROUP times as many, and 2 GROUP.

#ifndef SLICES
#define SLICES 1  // as in spectral/eigh/panel.glsl
#endif
#ifndef GROUP
#define GROUP 0
#endif

#include "lib/packed.glsl"
#include "spectral/eigh/column.glsl"

uniform sampler2D D;
uniform sampler2D P;
uniform int height;

flat in int j;
flat in int side;
flat in int top;
flat in int first;
flat in int part;
flat in int slices;
flat in int groups;

layout(location = 0) out vec4 sums;

vec4 sum_of(int texel) {
    vec4 found[SLICES];  // all under way at once: a GPU waits for each
    for (int s = 0; s < SLICES; ++s) found[s] = texelFetch(D, at(ivec2(texel, min(s, slices - 1))), 0);
    vec4 sum = found[0];
    for (int s = 1; s < SLICES; ++s) sum += s < slices ? found[s] : vec4(0.0);
    return sum;
}

vec2 entries(int r) {  // of x
    return below(texelFetch(P, at_second(ivec2(min(r, height - 1), j)), 0).rg, r, r < height ? top - 1 : 2 * r + 1);
}

void main() {
    int own = own_texel().x, behind = j + 1 + side, group = own - behind;
    if (group < 0 || group >= groups) {
        sums = sum_of(group < 0 ? own : own - groups);
        return;
    }
    sums = vec4(0.0);
    for (int q = GROUP * group; q < GROUP * group + GROUP; ++q) {
        vec4 y = sum_of(behind + min(q, part - 1));
        if (q < part) sums.r += dot(y, vec4(entries(first + q), entries(first + part + q)));
    }
}
