// [ Q ; R^T ]: both factors one above the other, for a record of a stack. R's columns are scaled back.
//
// A fragment computes one 2x2 block of the (m + n) x k matrix.
// Q   m x k, packed      H   m x n, packed: R on and above its diagonal
// column_exponents       column of texels (f_2x, f_2x+1, 0, 0)
// Cost per fragment: 4 to 8 fetches.

#include "lib/packed.glsl"
#include "lib/exponent.glsl"

uniform sampler2D Q;
uniform sampler2D H;
uniform sampler2D column_exponents;
uniform int split;    // m
uniform ivec2 shape;  // m + n, k

layout(location = 0) out vec4 result;

float entry(sampler2D M, int i, int j) {
    vec2 pair = row_pair(M, i, j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

float both(int i, int j) {
    if (i >= shape.x || j >= shape.y) return 0.0;
    if (i < split) return entry(Q, i, j);
    int row = i - split;  // of R^T, which is lower triangular
    if (row < j) return 0.0;
    vec2 f = texelFetch(column_exponents, at(ivec2(0, row >> 1)), 0).rg;
    return scaled(entry(H, j, row), int((row & 1) == 0 ? f.x : f.y));
}

void main() {
    int i = 2 * own_texel().y;
    int j = 2 * own_texel().x;
    result = vec4(both(i, j), both(i, j + 1), both(i + 1, j), both(i + 1, j + 1));
}
