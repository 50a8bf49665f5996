// The best candidate (lib/offer.glsl) of a block of 2 x 2 fragments, known to all four: they meet by derivatives.
//
// A derivative is the difference of neighbours in the block, and exact, as one of them is zero. Of equals the left one
// stays, then the upper one. The device must give each row and each column its own derivative: it is tested for that.

vec4 better(vec4 one, vec4 other) {
    vec4 found = other.x > one.x ? other : one;
    found.w = max(one.w, other.w);
    return found;
}

vec4 met(vec4 found) {
    ivec2 odd = ivec2(gl_FragCoord.xy) & 1;
    vec4 one = odd.x == 0 ? -found : vec4(0.0);  // a choice: infinity times zero is NaN
    vec4 other = odd.x == 0 ? vec4(0.0) : found;
    found = better(dFdx(one), dFdx(other));
    one = odd.y == 0 ? -found : vec4(0.0);
    other = odd.y == 0 ? vec4(0.0) : found;
    return better(dFdy(one), dFdy(other));
}
