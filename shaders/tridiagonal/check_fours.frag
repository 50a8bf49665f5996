// (error, left, rhs, x): the worst of a system, straight from wrapped bands and right sides. As `check` has them
// (tridiagonal/fours.glsl); unknowns are stored as `back_fours` leaves them.
//
// A fragment looks at `chunk` groups of four equations. NaN, infinity and whatever scaling lost make the error 2^100:
// maxima may drop them.
// A, B      bands and right sides
// X         four unknowns in a texel
// L         left_rows numbers of each system: what is left of its pivots
// diagnostics   a texel for each chunk
// Cost per fragment: 4 or 5 fetches for each group, 5 or 6 more, and one of each row of L.
// Oettli and Prager, "Compatibility of approximate solution of linear equations" (1964): componentwise backward error.

#ifndef WATCH
#define WATCH 0  // look for NaN and infinity in the corners of the bands too, which no equation has (0, 1)
#endif

#include "lib/tridiagonal.glsl"
#include "tridiagonal/fours.glsl"

uniform sampler2D X;
uniform sampler2D L;
uniform int left_rows;   // of L
uniform int pitch;       // texels of X for each system
uniform ivec2 chunks;    // groups for one fragment, fragments of a system

layout(location = 0) out vec4 diagnostics;

vec4 unknowns(int system, int g) {
    return texel(X, system * pitch + g);
}

// (error, rhs, x) of four equations, x with a neighbour on either side.
vec3 measured(Four four, float before, vec4 x, float after) {
    vec4 largest = largest_of(four);
    bvec4 lost = lost_from(four, largest);
    Four row = scaled_rows(four, largest);
    vec4 low = row.below * vec4(before, x.xyz);
    vec4 own = row.diagonal * x;
    vec4 high = row.above * vec4(x.yzw, after);
    vec4 rest = row.rhs - own;
    rest -= low;
    rest -= high;
    vec4 size = abs(row.rhs) + abs(own);
    size += abs(low);
    size += abs(high);
    ivec4 bits = floatBitsToInt(size) & 0x7fffffff;
    bvec4 open = greaterThanEqual(bits, ivec4(0x7f800000));  // of a sum of magnitudes: any of them is not finite
    size += FLOOR;
    vec4 error = vec4(quotient(abs(rest.x), size.x), quotient(abs(rest.y), size.y),
                      quotient(abs(rest.z), size.z), quotient(abs(rest.w), size.w));
    float worst = max(max(error.x, error.y), max(error.z, error.w));
    if (any(open) || any(lost)) worst = REFUSED;
    vec4 rhs = abs(row.rhs);
    x = abs(x);
    return vec3(worst, max(max(rhs.x, rhs.y), max(rhs.z, rhs.w)), max(max(x.x, x.y), max(x.z, x.w)));
}

#if WATCH
// Whether an entry of a row of the bands is NaN or infinity.
bool is_bad(int row, int j) {
    int place = row * shape.y + j;
    vec4 found = texel(A, place >> 2);
    float entry = from_element(found, found, place & 3).x;
    return is_nan(entry) || is_infinite(entry);
}
#endif

void main() {
    int system = own_matrix();
    diagnostics = vec4(0.0, 1.0, 0.0, 0.0);
    if (system >= systems) return;
    int groups = (shape.y + 3) >> 2;
    int first = own_row() * chunks.x;
    int end = min(first + chunks.x, groups);
    float least = 1.0;
    for (int i = own_row(); i < left_rows; i += chunks.y) least = least_of(least, texelFetch(L, place_of(i), 0).r);
    vec3 worst = vec3(0.0);
    float before = first > 0 ? unknowns(system, first - 1).w : 0.0;
    vec4 x = unknowns(system, first);
    Places at = places_of(system);
    Four texels = texels_at(at, first);
    for (int g = first; g < end; ++g) {
        vec4 next = g + 1 < groups ? unknowns(system, g + 1) : vec4(0.0);
        Four latter = texels_at(at, g + 1);
        worst = max(worst, measured(four_of(at, g, texels, latter), before, x, next.x));
        texels = latter;
        before = x.w;
        x = next;
    }
#if WATCH
    if (own_row() == 0) {
        bool bad = false;
#if BELOW >= 0 && BELOW_SHIFT < 0
        bad = bad || is_bad(system * shape.x + BELOW, shape.y - 1);
#endif
#if ABOVE >= 0 && ABOVE_SHIFT > 0
        bad = bad || is_bad(system * shape.x + ABOVE, 0);
#endif
        if (bad) worst.x = REFUSED;
    }
#endif
    diagnostics = vec4(worst.x, least, worst.yz);
}
