// How far a matrix is from diagonal, for a row of texels: (0, max |a_ij| / sqrt|a_ii a_jj|, max |a_ij|, max |a_ii|), i not j.
//
// NaN counts for nothing: a matrix that holds some stops.
// A         packed
// off_rows  a column of texels
// Cost per fragment: 2 `width` fetches, 8 `width` roots.

#include "lib/packed.glsl"

uniform sampler2D A;
uniform int width;    // of A in texels
uniform float least;  // that a diagonal entry counts for, so that rows of zeros stop too

layout(location = 0) out vec4 off;

void main() {
    int y = own_texel().y;
    vec2 own = abs(texelFetch(A, at(ivec2(y)), 0).ra);
    vec2 rows = sqrt(max(own, least));
    off = vec4(0.0, 0.0, 0.0, max(own.x, own.y));
    for (int x = 0; x < width; ++x) {
        vec4 b = abs(texelFetch(A, at(ivec2(x, y)), 0));
        vec2 columns = sqrt(max(abs(texelFetch(A, at(ivec2(x)), 0).ra), least));
        if (x == y) b.r = b.a = 0.0;
        vec4 ratio = b / (rows.xxyy * columns.xyxy);
        vec4 both = max(vec4(ratio.rg, b.rg), vec4(ratio.ba, b.ba));
        off.gb = max(off.gb, max(both.rb, both.ga));
    }
}
