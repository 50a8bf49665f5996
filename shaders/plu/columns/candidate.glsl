// A pivot candidate (norm, row, column, 0): how good it is, and where it is. norm = -1: none.
//
// The thesis (section 4.1.2) found explicit tests "a major bottleneck" and multiplied by float(test) instead, which makes a
// NaN of an infinite norm that loses; a selection needs neither.

#ifndef BRANCHES
#define BRANCHES 0  // the better of two by an explicit if (1), or by a selection (0)
#endif

const vec4 NO_CANDIDATE = vec4(-1.0, -1.0, -1.0, 0.0);

// The better one of two; of equals the one that comes first, row by row (in one column as LAPACK's isamax). A NaN loses.
vec4 better(vec4 one, vec4 two) {
    bool first = two.y < one.y || (two.y == one.y && two.z < one.z);
    bool second = two.x > one.x || (two.x == one.x && first);
#if BRANCHES
    if (second) {
        return two;
    } else {
        return one;
    }
#else
    return mix(one, two, bvec4(second));
#endif
}
