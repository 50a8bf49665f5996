// A lower triangle with a band (BANDED): its columns of blocks of 16 x 16, each from the diagonal on, beside each other.
//
//     D                        D D D D      Texel (x, y) of the matrix is at (x, y - 8 (x div 8)): block (I, J) in
//     B D                      B B B        row I - J of blocks. The height is that of the band: blocks below it are
//     C B D          as        C C          zero, and stay so.
//       C B D
//
// A matrix that is stored as a whole is used in place.

#ifndef BANDED
#define BANDED 0  // layout of the matrix: as a whole (0), or its band by columns of blocks (1)
#endif

#if BANDED

uniform int height;  // of the stored band, in texels

// Row and column of texels, from the block on the diagonal that is at `corner`; columns before it are negative.
ivec2 from_diagonal(ivec2 texel, ivec2 corner) {
    int x = texel.x - corner.x;
    return ivec2(x, x < 0 ? texel.y : texel.y + 8 * (x / 8));
}

// Whether a row of texels has nothing in the block column at the diagonal.
bool beyond_reach(ivec2 place) {
    return place.y >= height;
}

#else

#define from_diagonal(texel, corner) ((texel) - (corner))
#define beyond_reach(place) false

#endif
