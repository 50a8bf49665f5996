// The best candidate (lib/offer.glsl) of a block of 2 x 2 fragments, known to all four: they meet by derivatives.
//
// A derivative is the difference of neighbours in the block, and exact where one of them is zero. Of equals the left one
// stays, then the upper one. The device must give each row and each column its own derivative: it is tested for that.

vec4 better(vec4 one, vec4 other) {
    vec4 found = other.x > one.x ? other : one;
    found.w = max(one.w, other.w);
    return found;
}

vec4 met(vec4 found) {
    bvec2 odd = equal(ivec2(gl_FragCoord.xy) & 1, ivec2(1));
    // Chosen, not multiplied: infinity times zero is NaN. -0 and 0, so that a zero keeps its sign.
    found = better(dFdx(odd.x ? vec4(-0.0) : -found), dFdx(odd.x ? found : vec4(0.0)));
    return better(dFdy(odd.y ? vec4(-0.0) : -found), dFdy(odd.y ? found : vec4(0.0)));
}
