// Elements of a raw texture: one to a texel, row by row.

// Element first + i; i is no longer than a matrix or two.
float element_of(sampler2D raw, int first, int i) {
    int width = textureSize(raw, 0).x;
    int y = first / width;
    int x = first - y * width + i;
    // In floats, because a division of integers takes long: x is small, and never near a whole multiple of the width.
    int further = int((float(x) + 0.5) / float(width));
    return texelFetch(raw, ivec2(x - further * width, y + further), 0).r;
}
