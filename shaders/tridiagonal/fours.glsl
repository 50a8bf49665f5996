// Four equations at a time, of bands and right sides that are wrapped: a texel has four neighbours of a diagonal, so one
// fetch of each diagonal brings what four equations need of it. One right side for each matrix: system s is matrix s.
//
//     group g of a system:  equations 4g to 4g + 3, a vec4 each of what is below, on and above the diagonal, and of
//                           right sides
//
// Bands as SciPy has them: of row BELOW entry i + BELOW_SHIFT belongs to equation i, and so on. Where a system does not
// begin a texel, two texels have four neighbours together. Equations behind the last one say x = 0.

#ifndef ALIGNED
#define ALIGNED 1  // n is a multiple of 4, so that every diagonal begins a texel (0, 1)
#endif
#ifndef BELOW
#define BELOW 2  // row of A with the entries below the diagonal, -1 for none (-1, 0, 1, 2)
#endif
#ifndef MAIN
#define MAIN 1  // row of A with the diagonal (0, 1)
#endif
#ifndef ABOVE
#define ABOVE 0  // row of A with the entries above the diagonal, -1 for none (-1, 0, 1)
#endif
#ifndef BELOW_SHIFT
#define BELOW_SHIFT -1  // which entry of its row belongs to equation 0 (-1, 0)
#endif
#ifndef ABOVE_SHIFT
#define ABOVE_SHIFT 1  // the same (0, 1)
#endif

#include "tridiagonal/wrapped_places.glsl"

uniform sampler2D A;
uniform sampler2D B;
uniform ivec3 shape;  // rows of the bands, n, 1
uniform int systems;  // in all; the cells behind the last one are empty

struct Four {
    vec4 below;
    vec4 diagonal;
    vec4 above;
    vec4 rhs;
};

// One of its equations; c is x, y, z or w.
#define ROW(four, c) vec4(four.below.c, four.diagonal.c, four.above.c, four.rhs.c)

// Place of entry `shift` of a row of elements: its texel, and its place in there. SPREAD: where texels of the row do
// not begin with an entry of its groups, so that a group takes two.
#if ALIGNED
#define PLACE(row, shift) ivec2((row) * (shape.y >> 2) + ((shift) >> 2), (shift) & 3)
#define SPREAD(shift) (((shift) & 3) != 0)
#else
#define PLACE(row, shift) ivec2(((row) * shape.y + (shift)) >> 2, ((row) * shape.y + (shift)) & 3)
#define SPREAD(shift) true
#endif

// Entries below and above the diagonal are in one row: its texels are fetched once for both.
#define TOGETHER (BELOW >= 0 && BELOW == ABOVE && BELOW_SHIFT + 1 == ABOVE_SHIFT)

struct Places {  // of what belongs to equation 0 of a system
    ivec2 diagonal;
    ivec2 below;
    ivec2 above;
    ivec2 rhs;
};

Places places_of(int system) {
    int first = system * shape.x;
    return Places(PLACE(first + MAIN, 0), PLACE(first + BELOW, BELOW_SHIFT), PLACE(first + ABOVE, ABOVE_SHIFT),
                  PLACE(system, 0));
}

// Texels of group g, and so the former ones of group g - 1.
Four texels_at(Places at, int g) {
    Four texels = Four(vec4(0.0), texel(A, at.diagonal.x + g), vec4(0.0), texel(B, at.rhs.x + g));
    if (BELOW >= 0) texels.below = texel(A, at.below.x + g);
    if (ABOVE >= 0 && !TOGETHER) texels.above = texel(A, at.above.x + g);
    return texels;
}

// The same of group g + 1, as far as group g takes any of them.
Four latter_texels_at(Places at, int g) {
    Four texels = Four(vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    if (SPREAD(0)) {
        texels.diagonal = texel(A, at.diagonal.x + g + 1);
        texels.rhs = texel(B, at.rhs.x + g + 1);
    }
    if (BELOW >= 0 && SPREAD(BELOW_SHIFT)) texels.below = texel(A, at.below.x + g + 1);
    if (ABOVE >= 0 && !TOGETHER && SPREAD(ABOVE_SHIFT)) texels.above = texel(A, at.above.x + g + 1);
    return texels;
}

// Group g from its texels and those of the next one.
Four four_of(Places at, int g, Four texels, Four latter) {
    Four four = Four(vec4(0.0), from_element(texels.diagonal, latter.diagonal, at.diagonal.y), vec4(0.0),
                     from_element(texels.rhs, latter.rhs, at.rhs.y));
    if (BELOW >= 0) four.below = from_element(texels.below, latter.below, at.below.y);
    if (g == 0) four.below.x = 0.0;
    if (TOGETHER) four.above = from_element(texels.below, latter.below, at.below.y + 1);
    else if (ABOVE >= 0) four.above = from_element(texels.above, latter.above, at.above.y);
    if (4 * g + 4 >= shape.y) {
        ivec4 i = 4 * g + ivec4(0, 1, 2, 3);
        bvec4 outside = greaterThanEqual(i, ivec4(shape.y));
        four.below = mix(four.below, vec4(0.0), outside);
        four.diagonal = mix(four.diagonal, vec4(1.0), outside);
        four.above = mix(four.above, vec4(0.0), greaterThanEqual(i, ivec4(shape.y - 1)));
        four.rhs = mix(four.rhs, vec4(0.0), outside);
    }
    return four;
}

// Magnitudes of the largest entry of each row.
vec4 largest_of(Four four) {
    return max(max(abs(four.below), abs(four.diagonal)), abs(four.above));
}

// Each row scaled by the power of two that brings its largest entry to 1 to 2, which rounds nothing. Rows that this does
// not do for are found by `lost_from`.
Four scaled_rows(Four four, vec4 largest) {
    vec4 scale = intBitsToFloat(0x7f000000 - (floatBitsToInt(largest) & 0x7f800000));
    return Four(four.below * scale, four.diagonal * scale, four.above * scale, four.rhs * scale);
}

Four scaled_rows(Four four) {
    return scaled_rows(four, largest_of(four));
}

// Twice the bits of a magnitude, less one: in the order of magnitudes, but for zero, which is the largest.
uvec4 order_of(vec4 entries) {
    return 2u * floatBitsToUint(entries) - 1u;
}

// Rows that lost an entry or the right side to float32's limits when they were scaled. Infinity and NaN stay what they
// are; a row from 2^127 on becomes zero, which no pivot survives.
bvec4 lost_from(Four four, vec4 largest) {
    uvec4 least = min(min(order_of(four.below), order_of(four.diagonal)), min(order_of(four.above), order_of(four.rhs)));
    uvec4 exponent = floatBitsToUint(largest) & 0x7f800000u;
    uvec4 normal = max(exponent, 0x3f800000u) - 0x3f000000u;  // the least magnitude that stays in the normal range
    return lessThan(least, 2u * normal - 1u);
}
