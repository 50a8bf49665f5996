// The block of an operand that belongs to one texel of the result of an element-wise operation.
//
// placement.x = 0: the operand has a single row, which stands for every row of the result (1: it has all rows);
// placement.y = 0: it has a single column, likewise;
// placement.z = 1: its texture holds the transpose, which costs nothing but another order of the channels.

vec4 block_over(sampler2D M, ivec2 texel, ivec3 placement) {
    ivec2 at = texel * placement.yx;
    vec4 block = placement.z == 1 ? texelFetch(M, at.yx, 0).rbga : texelFetch(M, at, 0);
    if (placement.x == 0) block = block.rgrg;
    if (placement.y == 0) block = block.rrbb;
    return block;
}
