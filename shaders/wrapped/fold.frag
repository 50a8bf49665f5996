// One step of a reduction: result[i] = f(A, the elements of a chunk of line i), by +, *, max or min.
//
// A fragment computes four elements. Those of a line are `step` apart, `length` in all; a line is cut into `chunks` of
// CHUNK elements each, and passes follow each other until a line is one chunk. So a sum passes through few additions.
// A       wrapped, seen over (lines, chunks): its first element of each chunk
// S       SCALED: the largest magnitude of each line; elements are scaled by a power of two before they are squared
// result  wrapped: (lines, chunks)
// With TEXELS all of a line's texels are taken whole, since it is contiguous and begins with one.
// Cost per fragment: 4 CHUNK fetches (TEXELS: CHUNK).
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction by rendering to ever smaller targets);
// Blue, "A portable Fortran program to find the Euclidean norm of a vector" (1978) (scaling).

#ifndef COMBINE
#define COMBINE sum_of  // sum_of, product_of_two, maximum_of, minimum_of
#endif
#ifndef NEUTRAL
#define NEUTRAL 0  // start: 0, 1, 2 for the largest number, -2 for the smallest
#endif
#ifndef ENTRY
#define ENTRY itself  // function of an element in the first pass: itself, absolute, squared, truth
#endif
#ifndef SCALED
#define SCALED 0  // elements are scaled by the largest of their line, S (0, 1)
#endif
#ifndef TEXELS
#define TEXELS 0  // take whole texels (0, 1)
#endif
#ifndef CHUNK
#define CHUNK 64  // elements that are reduced at once, a multiple of 4
#endif
#if CHUNK % 4
#error CHUNK must be a multiple of 4
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"
#include "lib/ieee.glsl"
#include "lib/exponent.glsl"

uniform SAMPLER A;
uniform int A_view[VIEW];
uniform ivec3 line;  // elements of a line, chunks of a line, elements from one of a line to the next
#if SCALED
uniform sampler2D S;
#define ENTRY_OF(a, e) ENTRY(scaled(a, -e))
#else
#define ENTRY_OF(a, e) ENTRY(a)
#endif

layout(location = 0) out RESULT result;

#if RESULT_INTEGER
#define TOTAL int
#define EXTREME (NEUTRAL == 2 ? 0x7fffffff : int(0x80000000))
#else
#define TOTAL float
#define EXTREME (NEUTRAL == 2 ? INFINITY : -INFINITY)
#endif

#define START (NEUTRAL == 0 || NEUTRAL == 1 ? TOTAL(NEUTRAL) : EXTREME)

int truth(int a) { return a == 0 ? 0 : 1; }
int truth(float a) { return is_nan(a) || a != 0.0 ? 1 : 0; }
TOTAL sum_of(TOTAL a, TOTAL b) { return a + b; }
TOTAL product_of_two(TOTAL a, TOTAL b) { return a * b; }
int maximum_of(int a, int b) { return max(a, b); }
int minimum_of(int a, int b) { return min(a, b); }
ELEMENT itself(ELEMENT a) { return a; }
ELEMENT absolute(ELEMENT a) { return abs(a); }
ELEMENT squared(ELEMENT a) { return a * a; }

TOTAL entry(ELEMENT a, int e) { return ENTRY_OF(a, e); }

TOTAL folded(int place, int count, int e) {
#if TEXELS
    RESULT total = RESULT(START);
    for (int j = 0; j < count; j += 4) {
        TEXEL a = texel_of(A, (place + j) >> 2);
        total.r = COMBINE(total.r, entry(a.r, e));
        if (j + 1 < count) total.g = COMBINE(total.g, entry(a.g, e));
        if (j + 2 < count) total.b = COMBINE(total.b, entry(a.b, e));
        if (j + 3 < count) total.a = COMBINE(total.a, entry(a.a, e));
    }
    return COMBINE(COMBINE(total.r, total.g), COMBINE(total.b, total.a));
#else
    TOTAL total = START;
    for (int j = 0; j < count; ++j) total = COMBINE(total, entry(element_of(A, place + j * line.z), e));
    return total;
#endif
}

void main() {
    result = RESULT(0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    locate(own);
    ivec4 place = places(A_view);
    ivec4 lines = own / line.y;
    ivec4 count = min(ivec4(line.x) - CHUNK * (own - lines * line.y), ivec4(CHUNK));
    ivec4 e = ivec4(0);
#if SCALED
    vec4 largest = elements_of(S, lines);
    for (int c = 0; c < own_count(); ++c) {
        e[c] = exponent_of(largest[c]);
        if (e[c] == NO_EXPONENT) e[c] = 0;
    }
#endif
    RESULT total = RESULT(0);
    for (int c = 0; c < own_count(); ++c) total[c] = folded(place[c], count[c], e[c]);
    result = total;
}
