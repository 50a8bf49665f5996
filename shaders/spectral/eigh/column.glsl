// Two rows of a column of a packed symmetric matrix, and their part below a row.

vec2 column(sampler2D A, int j, int r) {  // rows 2r and 2r + 1 of column j
    vec4 block = texelFetch(A, ivec2(j >> 1, r), 0);
    return (j & 1) == 0 ? block.rb : block.ga;
}

vec2 across(sampler2D A, int j, int r) {  // the same, as row j has it: neighbours read texels beside each other
    vec4 block = texelFetch(A, ivec2(r, j >> 1), 0);
    return (j & 1) == 0 ? block.rg : block.ba;
}

vec2 below(vec2 pair, int r, int k) {  // zero in rows up to k
    return vec2(2 * r > k ? pair.x : 0.0, 2 * r + 1 > k ? pair.y : 0.0);
}

float entry_of(vec2 pair, int i) {  // row i
    return (i & 1) == 0 ? pair.x : pair.y;
}
