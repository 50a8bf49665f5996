// Four equations become one, straight from wrapped bands and right sides. The first level of `reduce` with P = 4
// (tridiagonal/fours.glsl): equations 4g to 4g + 3, and those from 4g + 4 to 4g + 6 are eliminated from it.
//
// A fragment computes one equation of the next level, which has floor(n / 4) of them, as `reduce` does.
// A, B            bands and right sides
// reduced, left   of floor(n / 4) equations; what is left of their least pivots
// Cost per fragment: 7 to 10 fetches; where diagonals do not begin a texel, 9 to 12.
// Wang, "A parallel method for tridiagonal equations" (1981).

#include "lib/tridiagonal.glsl"
#include "tridiagonal/fours.glsl"

layout(location = 0) out vec4 reduced;
layout(location = 1) out float left;

void main() {
    int g = own_row();
    int system = own_matrix();
    reduced = NO_EQUATION;
    left = 1.0;
    if (system >= systems) return;
    Places at = places_of(system);
    Four texels = texels_at(at, g);
    bool more = 4 * g + 4 < shape.y;
    Four latter = texels_at(at, g + 1);
    Four own = scaled_rows(four_of(at, g, texels, latter));
    vec4 row = ROW(own, x);
    float least = left_at_first(row);
    row = eliminated_into(ROW(own, y), row, left_at_first(ROW(own, y)), least);
    row = eliminated_into(ROW(own, z), row, left_at_first(ROW(own, z)), least);
    row = eliminated_into(ROW(own, w), row, left_at_first(ROW(own, w)), least);
    if (more) {
        Four next = scaled_rows(four_of(at, g + 1, latter, latter_texels_at(at, g + 1)));
        vec4 below = mirrored(ROW(next, z));
        least = least_of(least, left_at_first(below));
        below = eliminated_into(mirrored(ROW(next, y)), below, left_at_first(ROW(next, y)), least);
        below = eliminated_into(mirrored(ROW(next, x)), below, left_at_first(ROW(next, x)), least);
        row = mirrored(eliminated_into(mirrored(row), below, 1.0, least));
    }
    reduced = row;
    left = least;
}
