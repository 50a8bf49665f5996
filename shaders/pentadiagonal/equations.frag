// L, D, U, R: five bands and right sides become block rows, two equations each.
//
//     row 2k      (a[i, i-2], a[i, i-1]) (a[i, i],   a[i, i+1]) (a[i, i+2], 0)           i = 2k
//     row 2k + 1  (0,         a[i, i-2]) (a[i, i-1], a[i, i])   (a[i, i+1], a[i, i+2])   i = 2k + 1
//
// A fragment computes one block row. Equations are scaled as in tridiagonal/equations.frag; behind the last one of an odd
// number stands x = 0.
// A     bands, rows x n: packed, or (PACKED 0) raw, all matrices one after the other
// B     right sides, n x columns: packed, or raw behind all A
// L, D, U, R   a block row per texel
// Cost per fragment: 12 fetches.
// Hockney 1965, for what comes after.

#ifndef PACKED
#define PACKED 1  // A and B are packed matrices (1), or one after the other in one raw texture (0)
#endif

#include "lib/tridiagonal.glsl"
#include "lib/exponent.glsl"

uniform sampler2D A;
#if PACKED
uniform sampler2D B;
#else
uniform int start;     // place of the first right side
#endif
uniform ivec3 shape;   // rows of the bands, n, right sides of each matrix
uniform int systems;   // systems in all; the cells behind the last one are empty
uniform int above;     // bands above the diagonal: a[i, j] is in row above + i - j

layout(location = 0) out vec4 lower;
layout(location = 1) out vec4 diagonal;
layout(location = 2) out vec4 upper;
layout(location = 3) out vec2 rhs;

#if PACKED
float element(sampler2D M, int i, int j) {
    vec4 block = texelFetch(M, ivec2(j >> 1, i >> 1), 0);
    vec2 pair = (i & 1) == 0 ? block.rg : block.ba;
    return (j & 1) == 0 ? pair.x : pair.y;
}
#else
float raw(int place) {
    int width = textureSize(A, 0).x;
    int y = place / width;
    return texelFetch(A, ivec2(place - y * width, y), 0).r;
}
#endif

float entry(int member, int i, int j) {
    int row = above + i - j;
    if (row < 0 || row >= shape.x || j < 0 || j >= shape.y) return 0.0;
#if PACKED
    return element(A, row, j);
#else
    return raw((member * shape.x + row) * shape.y + j);
#endif
}

bool is_lost(float scaled_entry, float entry) {
    int bits = floatBitsToInt(scaled_entry) & 0x7fffffff;
    bool is_there = (floatBitsToInt(entry) & 0x7fffffff) != 0;  // on the bits: to some devices denormals equal zero
    return is_there && (bits < 0x00800000 || bits >= 0x7f800000);
}

void row_of(int member, int column, int i, out float row[5], out float b) {
    if (i >= shape.y) {
        for (int k = 0; k < 5; ++k) row[k] = k == 2 ? 1.0 : 0.0;
        b = 0.0;
        return;
    }
    int e = NO_EXPONENT;
    for (int k = 0; k < 5; ++k) {
        row[k] = entry(member, i, i + k - 2);
        e = max(e, exponent_of(row[k]));
    }
    if (e == NO_EXPONENT) e = 0;
#if PACKED
    float given = element(B, i, column);
#else
    float given = raw(start + (member * shape.y + i) * shape.z + column);
#endif
    b = scaled(given, -e);
    bool lost = is_lost(b, given);
    for (int k = 0; k < 5; ++k) {
        float before = row[k];
        row[k] = scaled(before, -e);
        lost = lost || is_lost(row[k], before);
    }
    if (lost) row[2] = NOT_A_NUMBER;
}

void main() {
    int k = own_row();
    int system = own_matrix();
    int member = system / shape.z;
    int column = system - member * shape.z;
    float first[5];
    float second[5];
    float b;
    float c;
    bool empty = system >= systems;
    row_of(member, column, empty ? shape.y : 2 * k, first, b);
    row_of(member, column, empty ? shape.y : 2 * k + 1, second, c);
    lower = vec4(first[0], first[1], 0.0, second[0]);
    diagonal = vec4(first[2], first[3], second[1], second[2]);
    upper = vec4(first[4], 0.0, second[3], second[4]);
    rhs = vec2(b, c);
}
