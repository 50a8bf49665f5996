// [ Q ; R^T ]: both factors one above the other, for a record of a stack. R's columns are scaled back.
//
// A fragment computes one 2x2 block of the (m + n) x k matrix; without Q (RAW, ALONE) of R^T only, which with RAW has the
// reflectors above its diagonal, and their factors as its last row.
// Q   m x k, packed      H   m x n, packed: R on and above its diagonal, the reflectors below
// T   row of texels, with the factors tau in the first and the last channel (RAW)
// column_exponents       column of texels (f_2x, f_2x+1, 0, 0)
// Fetches: 0 to 8.

#ifndef ALONE
#define ALONE 0  // R^T alone (0, 1)
#endif
#ifndef RAW
#define RAW 0  // R^T alone, with the reflectors and their factors (0, 1)
#endif

#include "lib/packed.glsl"
#include "lib/exponent.glsl"

#if ALONE == 0 && RAW == 0
uniform sampler2D Q;
uniform int split;    // m
#else
const int split = 0;
#endif
#if RAW
uniform sampler2D T;
uniform int factors;  // texels of T
#endif
uniform sampler2D H;
uniform sampler2D column_exponents;
uniform ivec2 shape;  // of the result: rows, columns

layout(location = 0) out vec4 result;

float entry(sampler2D M, int i, int j) {
    vec2 pair = row_pair(M, i, j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

float both(int i, int j) {
    if (i >= shape.x || j >= shape.y) return 0.0;
#if ALONE == 0 && RAW == 0
    if (i < split) return entry(Q, i, j);
#endif
    int row = i - split;  // of R^T, which is lower triangular
#if RAW
    if (row == shape.x - 1) {
        if (j >= 2 * factors) return 0.0;
        vec4 pair = texelFetch(T, at(ivec2(j >> 1, 0)), 0);
        return (j & 1) == 0 ? pair.r : pair.a;
    }
    if (row < j) return entry(H, j, row);
#else
    if (row < j) return 0.0;
#endif
    vec2 f = texelFetch(column_exponents, at(ivec2(0, row >> 1)), 0).rg;
    return scaled(entry(H, j, row), int((row & 1) == 0 ? f.x : f.y));
}

void main() {
    result = BLOCK_OF(both, own_texel());
}
