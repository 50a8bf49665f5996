// Four equations at a time, of bands and right sides that lie wrapped: a texel has four neighbours of a diagonal, so one
// fetch of each diagonal brings what four equations need of it. One right side for each matrix: system s is matrix s.
//
//     group g of a system:  equations 4g to 4g + 3, a vec4 each of what stands below, on and above the diagonal, and of
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

// floor(a / b), b > 0. GPUs have no division of integers: in floats it may be one too large or too small.
int whole_part(int a, int b) {
    int q = int(float(a) / float(b));
    return q + int(a >= (q + 1) * b) - int(a < q * b);
}

// Texel t; of those outside any one.
vec4 texel(sampler2D M, int t) {
    ivec2 size = textureSize(M, 0);
    int y = whole_part(t, size.x);
    return texelFetch(M, ivec2(t - y * size.x, clamp(y, 0, size.y - 1)), 0);
}

// Elements k to k + 3 of texels t and t + 1.
vec4 four_of(sampler2D M, int t, int k) {
    vec4 first = texel(M, t);
    if (k == 0) return first;
    vec4 second = texel(M, t + 1);
    if (k == 1) return vec4(first.yzw, second.x);
    if (k == 2) return vec4(first.zw, second.xy);
    return vec4(first.w, second.xyz);
}

// Group g of the row of elements that begins with number `row` * n, from `shift` on.
vec4 four_of(sampler2D M, int row, int shift, int g) {
#if ALIGNED
    return four_of(M, row * (shape.y >> 2) + (shift >> 2) + g, shift & 3);
#else
    int place = row * shape.y + shift;
    return four_of(M, (place >> 2) + g, place & 3);
#endif
}

Four four_at(int system, int g) {
    int first = system * shape.x;
    Four four = Four(vec4(0.0), four_of(A, first + MAIN, 0, g), vec4(0.0), four_of(B, system, 0, g));
#if BELOW >= 0
    four.below = four_of(A, first + BELOW, BELOW_SHIFT, g);
    if (g == 0) four.below.x = 0.0;
#endif
#if ABOVE >= 0
    four.above = four_of(A, first + ABOVE, ABOVE_SHIFT, g);
#endif
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

Four equations_at(int system, int g) {
    Four four = four_at(system, g);
    return scaled_rows(four, largest_of(four));
}

// Twice the bits of a magnitude, less one: in the order of magnitudes, but for zero, which is the largest.
uvec4 order_of(vec4 entries) {
    return 2u * floatBitsToUint(entries) - 1u;
}

// Rows that lost an entry or the right side to float32's limits when they were scaled. Infinity and NaN stay what they
// are; a row from 2^127 on becomes zero, which no pivot stands.
bvec4 lost_from(Four four, vec4 largest) {
    uvec4 least = min(min(order_of(four.below), order_of(four.diagonal)), min(order_of(four.above), order_of(four.rhs)));
    uvec4 exponent = floatBitsToUint(largest) & 0x7f800000u;
    uvec4 normal = max(exponent, 0x3f800000u) - 0x3f000000u;  // the least magnitude that stays in the normal range
    return lessThan(least, 2u * normal - 1u);
}
