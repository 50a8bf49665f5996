// Four equations become one, straight from wrapped bands and right sides. The first level of `reduce` with P = 4
// (lib/fours.glsl): equations 4g to 4g + 3, and those from 4g + 4 to 4g + 6 are eliminated from it.
//
// A fragment computes one equation of the next level, which has floor(n / 4) of them, as `reduce` does.
// A, B            bands and right sides
// reduced, left   of floor(n / 4) equations; what is left of their least pivots
// Cost per fragment: 7 to 9 fetches; where diagonals do not begin a texel, 16.
// Wang, "A parallel method for tridiagonal equations" (1981).

#include "lib/tridiagonal.glsl"
#include "lib/fours.glsl"

layout(location = 0) out vec4 reduced;
layout(location = 1) out float left;

void main() {
    int g = own_row();
    int system = own_matrix();
    reduced = NO_EQUATION;
    left = 1.0;
    if (system >= systems) return;
    Four own = equations_at(system, g);
    vec4 row = ROW(own, x);
    float least = left_at_first(row);
    row = eliminated_into(ROW(own, y), row, left_at_first(ROW(own, y)), least);
    row = eliminated_into(ROW(own, z), row, left_at_first(ROW(own, z)), least);
    row = eliminated_into(ROW(own, w), row, left_at_first(ROW(own, w)), least);
    if (4 * g + 4 < shape.y) {
        Four next = equations_at(system, g + 1);
        vec4 below = mirrored(ROW(next, z));
        least = least_of(least, left_at_first(below));
        below = eliminated_into(mirrored(ROW(next, y)), below, left_at_first(ROW(next, y)), least);
        below = eliminated_into(mirrored(ROW(next, x)), below, left_at_first(ROW(next, x)), least);
        row = mirrored(eliminated_into(mirrored(row), below, 1.0, least));
    }
    reduced = row;
    left = least;
}
