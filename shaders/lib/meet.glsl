// Blocks of 2 x 2 fragments, which see each other by derivatives.
//
// A derivative is the difference of neighbours in the block, and exact where one of them is zero: with the right sign of
// zero also for zeros. The device must give each row and each column its own derivative: it is tested for that.

bvec2 at_odd() {
    return equal(ivec2(gl_FragCoord.xy) & 1, ivec2(1));
}

// What the left and the right fragment have, and the upper and the lower one.
vec4 of_left(vec4 own) {
    return dFdx(at_odd().x ? vec4(-0.0) : -own);  // a choice: infinity times zero is NaN
}

vec4 of_right(vec4 own) {
    return dFdx(at_odd().x ? own : vec4(0.0));
}

vec4 of_upper(vec4 own) {
    return dFdy(at_odd().y ? vec4(-0.0) : -own);
}

vec4 of_lower(vec4 own) {
    return dFdy(at_odd().y ? own : vec4(0.0));
}

// The better one of two candidates (lib/offer.glsl), of equals the first; and the larger w.
vec4 better(vec4 one, vec4 other) {
    vec4 found = other.x > one.x ? other : one;
    found.w = max(one.w, other.w);
    return found;
}

// The best candidate of a block: of equals the left one, then the upper one.
vec4 met(vec4 found) {
    found = better(of_left(found), of_right(found));
    return better(of_upper(found), of_lower(found));
}
