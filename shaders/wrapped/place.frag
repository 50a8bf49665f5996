// result[i] = the place in line i of its largest or smallest element, the first of several; NaN is beyond all.
//
// A fragment computes four elements. Lines are cut into chunks as in wrapped/fold; the passes after the first compare
// what the places in P point to.
// A       wrapped, seen over (lines, chunks): the first element of each line
// P       FIRST 0: places found so far, (lines, candidates)
// result  wrapped: (lines, chunks)
// Cost per fragment: 4 CHUNK fetches (FIRST 0: 8 CHUNK).

#ifndef LEAST
#define LEAST 0  // look for the largest (0), or for the smallest (1)
#endif
#ifndef FIRST
#define FIRST 1  // all of a line are candidates (1), or those in P (0)
#endif
#ifndef CHUNK
#define CHUNK 64  // candidates that are compared at once
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"
#include "lib/ieee.glsl"

uniform SAMPLER A;
uniform int A_view[VIEW];
uniform ivec3 line;  // candidates of a line, chunks of a line, elements from one of a line to the next
#if FIRST == 0
uniform isampler2D P;
#endif

layout(location = 0) out ivec4 result;

bool is_nan(int a) { return false; }

bool beats(ELEMENT a, ELEMENT b) {
    if (is_nan(b)) return false;
    return is_nan(a) || (LEAST == 1 ? a < b : a > b);
}

int candidate(int row, int j) {
#if FIRST
    return j;
#else
    return element_of(P, row * line.x + j);
#endif
}

int best(int start, int row, int first) {
    int found = candidate(row, first);
    ELEMENT most = element_of(A, start + found * line.z);
    int end = min(first + CHUNK, line.x);
    for (int j = first + 1; j < end; ++j) {
        int place = candidate(row, j);
        ELEMENT a = element_of(A, start + place * line.z);
        if (beats(a, most)) {
            most = a;
            found = place;
        }
    }
    return found;
}

void main() {
    result = ivec4(0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    locate(own);
    ivec4 start = places(A_view);
    ivec4 rows = own / line.y;
    ivec4 first = CHUNK * (own - rows * line.y);
    ivec4 found = ivec4(0);
    for (int c = 0; c < own_count(); ++c) found[c] = best(start[c], rows[c], first[c]);
    result = found;
}
