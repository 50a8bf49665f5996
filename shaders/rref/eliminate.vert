// The pivot rows of step k and the constants of their 2x2 block (thesis, listing 4.3), the same at the three corners.
//
//     a b        l = c / a           without a first pivot    l = 0
//     c d        d' = d - l b        without a second pivot   d' = 0

#include "lib/fullscreen.glsl"
#include "lib/pivots.glsl"

uniform sampler2D A;
uniform sampler2D pivots;
uniform int k;     // texel column of the step
uniform int slot;  // texel of `pivots` that holds its record

flat out ivec4 rows;   // r, p, s, q: p comes to row r, then q to row s
flat out ivec2 found;  // has column 2k a pivot, has column 2k+1 one
flat out vec4 block;   // a, b, l, d'

void main() {
    gl_Position = triangle_corner();
    vec4 record = texelFetch(pivots, ivec2(slot, 0), 0);
    int r = int(record.b);
    found = ivec2(record.r >= 0.0, record.g >= 0.0);
    int s = r + found.x;
    rows = ivec4(r, found.x == 1 ? int(record.r) : r, s, found.y == 1 ? int(record.g) : s);
    block = vec4(0.0);
    if (found.x == 1) block.xy = row_pair(A, source_row(r, rows.x, rows.y, rows.z, rows.w), k);
    if (found.y == 1) {
        vec2 low = row_pair(A, source_row(s, rows.x, rows.y, rows.z, rows.w), k);
        block.z = found.x == 1 ? multiplier(low.x, block.x) : 0.0;
        block.w = low.y - block.z * block.y;
    }
}
