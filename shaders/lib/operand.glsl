// An operand of an element-wise operation, as it lies over the result.
//
// `lies` says so: x = 0: it has a single row, which stands for every row of the result; y = 0: a single column, likewise;
// z = 1: its texture holds the transpose, which costs nothing but another order of the channels.

vec4 block_over(sampler2D M, ivec2 texel, ivec3 lies) {
    ivec2 at = texel * lies.yx;
    vec4 block = lies.z == 1 ? texelFetch(M, at.yx, 0).rbga : texelFetch(M, at, 0);
    if (lies.x == 0) block = block.rgrg;
    if (lies.y == 0) block = block.rrbb;
    return block;
}
