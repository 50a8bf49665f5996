// One step of the inverse of a lower triangle T, column k of it:
//
//     X[k, j] <- X[k, j] / T[k, k]                  j <= k
//     X[i, j] <- X[i, j] - T[i, k] X[k, j] / T[k, k]   i > k, j <= k
//
// X begins as the identity, which is not stored: columns from k on are still those of I, whatever the texture has there. An upper triangle is the
// transpose of a lower one, and so is its inverse. The source does all of it in place; from 512 rows on its blocks of
// threads read row k while another one divides it. Here a pass reads what the pass before has written.
// A fragment computes one 2x2 block of X. Every row below divides row k again, as in the source.
// T   n x n, packed; only its own triangle is read
// X   n x n, packed, after k steps
// Cost per fragment: 4 fetches, 8 flop, 2 or no divisions.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.3.

#include "triangular/triangle.glsl"

uniform sampler2D X;
uniform int k;
uniform ivec2 shape;  // rows and columns of T

layout(location = 0) out vec4 result;

// Blocks of lower triangles: of the transposes, if the matrices are upper triangular.
#if UPPER
#define LOWER_OF_X(y, x) texelFetch(X, ivec2(y, x), 0).rbga
#define LOWER_OF_T(y, x) block_of_T(x, y).rbga
#else
#define LOWER_OF_X(y, x) texelFetch(X, ivec2(x, y), 0)
#define LOWER_OF_T(y, x) block_of_T(y, x)
#endif

vec4 before(int y, int x) {  // a block of X after k steps
    vec4 block = LOWER_OF_X(y, x);
    vec4 one = y == x ? vec4(1.0, 0.0, 0.0, 1.0) : vec4(0.0);
    if (2 * x >= k) block.rb = one.rb;
    if (2 * x + 1 >= k) block.ga = one.ga;
    return block;
}

// A row of the block, i its number, l the entry of column k in it.
vec2 after(vec2 row, int i, float l, vec2 solved) {
    return i < k ? row : i == k ? solved : row - l * solved;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if UPPER
    texel = texel.yx;
#endif
    vec4 own = before(texel.y, texel.x);
    vec4 of_T = LOWER_OF_T(texel.y, k >> 1);
    vec2 l = (k & 1) == 0 ? of_T.rb : of_T.ga;
    vec4 corner = LOWER_OF_T(k >> 1, k >> 1);
    vec2 solved = divided(half_of(before(k >> 1, texel.x), k), (k & 1) == 0 ? corner.r : corner.a);
    vec2 top = after(own.rg, 2 * texel.y, l.x, solved);
    vec2 low = after(own.ba, 2 * texel.y + 1, l.y, solved);
    result = without_padding(vec4(top, low), texel, shape);
#if UPPER
    result = result.rbga;
#endif
}
