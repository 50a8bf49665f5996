// The strip layout: four textures, in which a texel holds four rows of one column.
//
// Element (i, j) is in texture (i mod 16) div 4, channel i mod 4, at texel (j div 8, 8 (i div 16) + j mod 8): 16 rows
// of a column are at the same place of the four textures, so that one fragment computes them all.

uniform sampler2D S0;
uniform sampler2D S1;
uniform sampler2D S2;
uniform sampler2D S3;

ivec2 strip_texel(int group, int j) {
    return ivec2(j >> 3, 8 * group + (j & 7));
}

vec4 strip_quad(int which, ivec2 at) {  // rows 4 which to 4 which + 3 of the 16 that are at a texel
    // GLSL 3.30 has no array of samplers with a computed index.
    if (which == 0) return texelFetch(S0, at, 0);
    if (which == 1) return texelFetch(S1, at, 0);
    if (which == 2) return texelFetch(S2, at, 0);
    return texelFetch(S3, at, 0);
}

vec4 four_rows(int quad, int j) {  // rows 4 quad to 4 quad + 3 of column j
    return strip_quad(quad & 3, strip_texel(quad >> 2, j));
}

vec2 two_rows(int y, int j) {  // rows 2y, 2y+1 of column j
    vec4 four = four_rows(y >> 1, j);
    return (y & 1) == 0 ? four.rg : four.ba;
}

float strip_element(int i, int j) {
    return four_rows(i >> 2, j)[i & 3];
}
