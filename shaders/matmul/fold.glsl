// The blocks of ROWS x COLUMNS texels that hold the lower half of a symmetric matrix, folded into a rectangle: beside
// the last row of blocks is the first, beside the last but one the second (FOLDED). So all fragments have something to
// do, and all parts of the picture about as much: a software rasteriser shares it out among its threads in squares.
//
//     a                   d d d d a
//     b b         as      c c c b b
//     c c c
//     d d d d

#ifndef FOLDED
#define FOLDED 0  // blocks are as in the matrix (0), or folded (1)
#endif

#if FOLDED

uniform ivec2 blocks;  // columns and rows of blocks in the matrix

int reach(int y) {  // columns of blocks in row y, as far as the diagonal
    return min(blocks.x, (ROWS * (y + 1) + COLUMNS - 1) / COLUMNS);
}

// The block that is at a place; one above the diagonal if there is none.
ivec2 unfolded(ivec2 place) {
    int low = blocks.y - 1 - place.y;
    int beside = reach(low);
    if (place.x < beside || low == place.y) return ivec2(place.x, low);
    return ivec2(place.x - beside, place.y);
}

// Place of a block that is not above the diagonal.
ivec2 folded(ivec2 block) {
    int high = blocks.y - 1 - block.y;
    return block.y < high ? ivec2(block.x + reach(high), block.y) : ivec2(block.x, high);
}

#else

#define unfolded(place) (place)
#define folded(block) (block)

#endif
