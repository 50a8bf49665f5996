// One step of merge sort: in each line, runs of `width` that are sorted become runs of twice that length.
//
// A fragment computes four elements. Each finds by bisection how many of the left run are before it, and needs no more.
// Equal elements stay in their order.
// A       wrapped: PLACES 0: lines in C order; else seen over the lines: the first element of each
// P       PLACES 2: places of the elements in their lines, sorted so far; PLACES 1: they are unsorted
// result  wrapped: lines in C order, of elements (PLACES 0), or of their places
// Cost per fragment: 8 log2(width) + 12 fetches (PLACES: twice that).
// Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging made simple" (2012).

#ifndef PLACES
#define PLACES 0  // sort elements (0), their places for the first time (1), their places (2)
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"
#include "wrapped/order.glsl"

uniform SAMPLER A;
uniform ivec2 runs;  // elements of a line, width of a run

int start;  // of the line in A
int row;    // first element of the line in C order

#if PLACES == 2
uniform isampler2D P;
int place(int k) { return element_of(P, row + k); }
#else
#define place(k) (k)
#endif

#if PLACES
uniform int A_view[VIEW];
uniform int step_;  // elements of A from one of a line to the next
layout(location = 0) out ivec4 result;
#define SORTED_TEXEL ivec4
#define SORTED place

ELEMENT key(int k) { return element_of(A, start + place(k) * step_); }

ivec4 starts_of(ivec4 own) {
    locate(own);
    return places(A_view);
}
#else
layout(location = 0) out RESULT result;
#define SORTED_TEXEL RESULT
#define SORTED key
#define starts_of(own) ivec4(0)

ELEMENT key(int k) { return element_of(A, row + k); }
#endif

// The element of the line that is the k-th after the step.
int origin(int k) {
    int left = k / (2 * runs.y) * (2 * runs.y);
    int right = min(left + runs.y, runs.x);
    int end = min(right + runs.y, runs.x);
    int p = k - left;
    int low = max(0, p - (end - right));
    int high = min(p, right - left);
    while (low < high) {
        int middle = (low + high) / 2;
        if (before(key(right + p - 1 - middle), key(left + middle))) high = middle;
        else low = middle + 1;
    }
    int i = left + low;
    int j = right + p - low;
    if (i >= right) return j;
    return j < end && before(key(j), key(i)) ? j : i;
}

void main() {
    result = SORTED_TEXEL(0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    ivec4 starts = starts_of(own);
    SORTED_TEXEL texel = SORTED_TEXEL(0);
    for (int c = 0; c < own_count(); ++c) {
        int line = own[c] / runs.x;
        row = line * runs.x;
        start = starts[c];
        texel[c] = SORTED(origin(own[c] - row));
    }
    result = texel;
}
