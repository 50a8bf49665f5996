// Bands of matrices as SciPy has them, rows x n, and right sides, n x columns, as they are given:
//
//     LAYOUT 0   raw, an element in a texel: the bands of all matrices in A, and from element `start` on all right sides
//     LAYOUT 1   a packed matrix each, of one matrix
//     LAYOUT 2   wrapped, four elements in a texel: all matrices one after the other
//
// With WATCH the corners of the bands, which no equation has, are looked at for NaN and infinity.

#ifndef LAYOUT
#define LAYOUT 1  // layout of A and B: raw (0), packed (1), wrapped (2)
#endif
#ifndef WATCH
#define WATCH 0  // look at corners (0, 1)
#endif

#include "lib/places.glsl"

uniform sampler2D A;
#if LAYOUT == 0
uniform int start;     // place of the first right side
#else
uniform sampler2D B;
#endif
uniform ivec3 shape;   // rows of the bands, n, right sides of each matrix

#if LAYOUT == 1
#include "lib/packed.glsl"

float element(sampler2D M, int i, int j) {
    vec4 block = texelFetch(M, ivec2(j >> 1, i >> 1), 0);
    vec2 pair = (i & 1) == 0 ? block.rg : block.ba;
    return (j & 1) == 0 ? pair.x : pair.y;
}
#else
float element(sampler2D M, int place) {
    int texel = LAYOUT == 2 ? place >> 2 : place;
    int width = textureSize(M, 0).x;
    int y = whole_part(texel, width);
    vec4 found = texelFetch(M, ivec2(texel - y * width, y), 0);
    return LAYOUT == 2 ? channel(found, place) : found.r;
}
#endif

// Entry j of a row of the bands, inside of it.
float band_entry(int matrix, int row, int j) {
#if LAYOUT == 1
    return element(A, row, j);
#else
    return element(A, (matrix * shape.x + row) * shape.y + j);
#endif
}

float right_side(int matrix, int i, int column) {
#if LAYOUT == 0
    return element(A, start + (matrix * shape.y + i) * shape.z + column);
#elif LAYOUT == 1
    return element(B, i, column);
#else
    return element(B, (matrix * shape.y + i) * shape.z + column);
#endif
}

// Whether a band has NaN or infinity in the corner that belongs to column j outside of the matrix.
bool corner_is_bad(int matrix, int row, int j) {
#if WATCH
    if (j >= 0 && j < shape.y) return false;
    float found = band_entry(matrix, row, j < 0 ? j + shape.y : j - shape.y);
    return is_nan(found) || is_infinite(found);
#else
    return false;
#endif
}

// Whether a scaled entry left float32's range, or was NaN or infinity before.
bool is_lost(float scaled_entry, float entry) {
    int bits = floatBitsToInt(scaled_entry) & 0x7fffffff;
    bool is_there = (floatBitsToInt(entry) & 0x7fffffff) != 0;  // on the bits: to some devices denormals equal zero
    return is_there && (bits < 0x00800000 || bits >= 0x7f800000);
}
