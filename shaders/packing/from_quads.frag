// M out of its 4x1 quads, or with ACROSS out of its 1x4 quads, see packing/to_quads.frag: back to the 2x2 layout.
//
// A fragment computes one texel of M.
// quads   4x1: a column of M in four-row texels      1x4: a row of M in four-column texels
// Cost per fragment: 2 fetches.
// Fetches: 1 + (shape_x % 2 + shape_y % 2 == 0) to 2.

#ifndef ACROSS
#define ACROSS 0  // four elements of a column (0), or of a row (1)
#endif

#include "lib/packed.glsl"

uniform sampler2D quads;
uniform ivec2 shape;  // rows and columns of M

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if ACROSS
    int i = 2 * texel.y;
    vec2 above = half_of(texelFetch(quads, ivec2(texel.x >> 1, i), 0), texel.x);
    vec2 below = i + 1 < shape.x ? half_of(texelFetch(quads, ivec2(texel.x >> 1, i + 1), 0), texel.x) : vec2(0.0);
    vec4 block = vec4(above, below);
#else
    int j = 2 * texel.x;
    vec2 left = half_of(texelFetch(quads, ivec2(j, texel.y >> 1), 0), texel.y);
    vec2 right = j + 1 < shape.y ? half_of(texelFetch(quads, ivec2(j + 1, texel.y >> 1), 0), texel.y) : vec2(0.0);
    vec4 block = vec4(left.x, right.x, left.y, right.y);
#endif
    result = without_padding(block, texel, shape);
}
