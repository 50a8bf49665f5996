// A sparse matrix in tiles of rows, see `shaders/spmv/sell.frag`: where its texels are, and which columns they mean.
//
// columns is a sampler of the shader that includes this file.

#ifndef TILE_HEIGHT
#define TILE_HEIGHT 1  // texels in a column of a tile
#endif
#ifndef TILE_WIDTH
#define TILE_WIDTH 1  // texels in a row of a tile
#endif
#ifndef ACROSS
#define ACROSS 1  // blocks in a row of A
#endif
#ifndef LONGEST
#define LONGEST 1  // entries of the longest row: a loop whose trips are known is faster
#endif
#ifndef SHORT
#define SHORT 0  // columns are counted from the own row, in 16 bits (0, 1)
#endif

// The texel of a block that is in it where texel `own` of y is in its tile.
ivec2 block_at(int block, ivec2 own) {
    ivec2 tile = ivec2(TILE_WIDTH, TILE_HEIGHT);
    return place_of(block, ACROSS) * tile + own - own / tile * tile;
}

#if SHORT
// Columns minus rows of four entries: two in each channel, of 16 bits with a sign.
ivec4 offsets_at(ivec2 at) {
    ivec2 pairs = texelFetch(columns, at, 0).rg;
    return ivec4(pairs.r << 16, pairs.r, pairs.g << 16, pairs.g) >> 16;
}
#endif
