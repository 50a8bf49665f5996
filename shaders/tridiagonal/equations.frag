// E[i] = 2^-e (a[i, i-1], a[i, i], a[i, i+1], b[i]): bands and right sides become equations, a texel each.
//
// A fragment computes one equation. A row is scaled by the power of two that brings its largest entry to 1 to 2, which
// rounds nothing; where it would lose an entry or the right side to float32's limits the diagonal is NaN, and the check
// at the end refuses the system. Every right side has a system of its own: system s is column s % columns of matrix
// s / columns.
// A     bands as SciPy has them, rows x n: packed, or (PACKED 0) raw in A, all matrices one after the other
// B     right sides, n x columns: packed, or raw behind all A
// E     an equation per texel
// Cost per fragment: 4 fetches.
// Hockney, "A fast direct solution of Poisson's equation using Fourier analysis" (1965), for what comes after.

#ifndef PACKED
#define PACKED 1  // A and B are packed matrices (1), or one after the other in one raw texture (0)
#endif

#include "lib/tridiagonal.glsl"
#include "lib/exponent.glsl"

#if PACKED
#include "lib/packed.glsl"
#endif

uniform sampler2D A;
#if PACKED
uniform sampler2D B;
#else
uniform int start;     // place of the first right side
#endif
uniform ivec3 shape;   // rows of the bands, n, right sides of each matrix
uniform int systems;   // systems in all; the cells behind the last one are empty
uniform ivec3 bands;   // row of A with the entries below the diagonal, on it, above it; -1 for none
uniform ivec3 shifts;  // which of a row belongs to equation i: i + shift

layout(location = 0) out vec4 equation_i;

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

float band(int member, int row, int j) {
    if (row < 0 || j < 0 || j >= shape.y) return 0.0;
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

void main() {
    int i = own_row();
    int system = own_matrix();
    if (system >= systems) {
        equation_i = NO_EQUATION;
        return;
    }
    int member = system / shape.z;
    int column = system - member * shape.z;
    float lower = i == 0 ? 0.0 : band(member, bands.x, i + shifts.x);
    float diagonal = band(member, bands.y, i + shifts.y);
    float upper = i == shape.y - 1 ? 0.0 : band(member, bands.z, i + shifts.z);
#if PACKED
    float rhs = element(B, i, column);
#else
    float rhs = raw(start + (member * shape.y + i) * shape.z + column);
#endif
    int e = max(exponent_of(lower), max(exponent_of(diagonal), exponent_of(upper)));
    if (e == NO_EXPONENT) e = 0;
    vec4 row = vec4(scaled(lower, -e), scaled(diagonal, -e), scaled(upper, -e), scaled(rhs, -e));
    bool lost = is_lost(row.r, lower) || is_lost(row.g, diagonal) || is_lost(row.b, upper) || is_lost(row.a, rhs);
    if (lost) row.g = NOT_A_NUMBER;
    equation_i = row;
}
