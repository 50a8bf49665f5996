// A pivot candidate (norm, row, column, 0): how good it is, and where it stands. norm = -1: none.

const vec4 NO_CANDIDATE = vec4(-1.0, -1.0, -1.0, 0.0);

// The better one of two; of equals the one that comes first, row by row (in one column as LAPACK's isamax). A NaN loses.
vec4 better(vec4 one, vec4 two) {
    bool first = two.y < one.y || (two.y == one.y && two.z < one.z);
    return two.x > one.x || (two.x == one.x && first) ? two : one;
}
