// Unknowns 4g to 4g + 3 straight from wrapped bands, and from x[4g - 1] and x[4g + 3], which were kept. The last level of
// `back` with P = 4 (tridiagonal/fours.glsl).
//
// A fragment computes a texel, the four unknowns of group g of a system. With `pitch` texels for each system, the systems
// are one after the other: wrapped, if n is a multiple of 4. Behind the last unknown there is zero.
// A, B     bands and right sides
// X        floor(n / 4) unknowns of each system
// result   four unknowns in a texel
// Cost per fragment: 6 to 8 fetches; where diagonals do not begin a texel, 8 to 10.
// Wang, "A parallel method for tridiagonal equations" (1981).

#include "lib/tridiagonal.glsl"
#include "tridiagonal/fours.glsl"

uniform sampler2D X;
uniform ivec2 lay;  // texels for each system, texels of a row of `result`

layout(location = 0) out vec4 result;

float kept(int g, int system) {
    int y = whole_part(system, grid.x);
    ivec2 cell = ivec2(system - y * grid.x, y);
#if AXIS
    return texelFetch(X, ivec2(g, 0) * grid + cell, 0).r;
#else
    return texelFetch(X, ivec2(0, g) * grid + cell, 0).r;
#endif
}

void main() {
    int place = int(gl_FragCoord.y) * lay.y + int(gl_FragCoord.x);
    int system = whole_part(place, lay.x);
    int g = place - system * lay.x;
    result = vec4(0.0);
    if (system >= systems) return;
    Places at = places_of(system);
    Four own = scaled_rows(four_of(at, g, texels_at(at, g), latter_texels_at(at, g)));
    vec2 above = vec2(0.0, g > 0 ? kept(g - 1, system) : 0.0);
    vec2 below = vec2(0.0, 4 * g + 3 < shape.y ? kept(g, system) : 0.0);
    float least = 1.0;  // nobody looks at it
    vec2 above_y = eliminated(above, own.below.x, own.diagonal.x, own.above.x, own.rhs.x, least);
    vec2 above_z = eliminated(above_y, own.below.y, own.diagonal.y, own.above.y, own.rhs.y, least);
    vec2 below_y = eliminated(below, own.above.z, own.diagonal.z, own.below.z, own.rhs.z, least);
    vec2 below_x = eliminated(below_y, own.above.y, own.diagonal.y, own.below.y, own.rhs.y, least);
    result = vec4(unknown_between(ROW(own, x), above, below_x, least),
                  unknown_between(ROW(own, y), above_y, below_y, least),
                  unknown_between(ROW(own, z), above_z, below, least),
                  below.y);
}
