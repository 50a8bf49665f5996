// result[i] = start + i step, or a number on a diagonal and zero elsewhere.
//
// A fragment computes four elements. Up to `turn.x` they are counted from the start, from there on from the last element
// backwards, the `turn.y`-th, which may be beyond the array: so both ends are exact. Rows and columns of a diagonal: those of the last two dimensions.
// result  wrapped
// Cost per fragment: none.

#ifndef DIAGONAL
#define DIAGONAL 0  // a sequence (0), or a diagonal (1)
#endif

#include "lib/wrapped.glsl"
#include "wrapped/types.glsl"

#if RESULT_INTEGER
#define NUMBER int
uniform ivec3 ends;  // first element, last element, step
#else
#define NUMBER float
uniform vec3 ends;
#endif
#if DIAGONAL
uniform ivec3 diagonal;  // rows, columns, and which diagonal: 0 for the main one, more to the right
#else
uniform ivec2 turn;
#endif

layout(location = 0) out RESULT result;

NUMBER element(int i) {
#if DIAGONAL
    int row = i / diagonal.y;
    int column = i - row * diagonal.y;
    return column - row % diagonal.x == diagonal.z ? ends.x : NUMBER(0);
#else
    return i < turn.x ? ends.x + NUMBER(i) * ends.z : ends.y - NUMBER(turn.y - i) * ends.z;
#endif
}

void main() {
    result = RESULT(0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    result = without_spare(RESULT(element(own.x), element(own.y), element(own.z), element(own.w)));
}
