// A matrix as a step of the bidiagonal form sees it: as it is for a reflector from the left, else its transpose.

uniform sampler2D A;
uniform int k;      // column of the step
uniform int first;  // its first row that counts: k from the left, k + 1 from the right
uniform int side;   // from the left (0), or from the right (1)

// Texel of A from texel (column, row) of the view, and back.
ivec2 turned(ivec2 texel) {
    return side == 0 ? texel : texel.yx;
}

vec4 turned(vec4 block) {
    return side == 0 ? block : block.rbga;
}

vec4 seen(int x, int y) {
    return turned(texelFetch(A, turned(ivec2(x, y)), 0));
}

// Rows 2y and 2y + 1 of column k.
vec2 column(int y) {
    vec4 block = seen(k >> 1, y);
    return (k & 1) == 0 ? block.rb : block.ga;
}
