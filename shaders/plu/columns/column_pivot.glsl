// The pivot of column k, as the search has left it: (row, column) of the element that comes to place (k, k).
// Where nothing but NaN was found, it stays.

#ifndef PIVOTLESS
#define PIVOTLESS 0  // no search, no exchange: every pivot is the element that is there (1)
#endif

#if PIVOTLESS
ivec2 column_pivot(int k) {
    return ivec2(k);
}
#else
uniform sampler2D records;  // a row of texels, one candidate for each column, see plu/columns/candidate.glsl

ivec2 column_pivot(int k) {
    vec4 found = texelFetch(records, ivec2(k, 0), 0);
    return found.x < 0.0 ? ivec2(k) : ivec2(found.yz);
}
#endif
