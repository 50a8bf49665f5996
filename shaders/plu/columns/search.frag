// Pivot search, first level: the largest of |A[i, k]|, i >= k, or with COMPLETE of |A[i, j]|, i, j >= k.
//
// A fragment computes one candidate (plu/columns/candidate.glsl), the best of a rectangle: of `block` rows of texels and columns
// of the matrix. Fragment (0, 0) begins at place (k, k).
// A      rows x columns, see plu/columns/vectors.glsl
// left   with LEFT instead of A: column k by itself, in the blue channel (plu/columns/next_column.frag)
// Cost per fragment: 1 fetch for each texel of the rectangle.
// Fetches: 1 to block_x * block_y.
// Galoppo, Govindaraju, Henson and Manocha, "LU-GPU: Efficient algorithms for solving dense linear systems on graphics
// hardware" (2005): partial and full pivoting by reductions on the GPU.

#ifndef COMPLETE
#define COMPLETE 0  // search the whole rest of the matrix (1) or one column (0)
#endif
#ifndef LEFT
#define LEFT 0      // the column is a texture of its own (0, 1)
#endif

#include "plu/columns/vectors.glsl"
#include "plu/columns/candidate.glsl"

#if LEFT
uniform sampler2D left;
#else
uniform sampler2D A;
#endif
uniform int k;
uniform ivec2 block;  // rows of texels and columns that one fragment searches
uniform ivec2 shape;  // rows and columns of A

layout(location = 0) out vec4 candidate;

vec4 rows_at(int y, int j) {  // the elements of column j in the rows of texel y
#if LEFT
    return vec4(texelFetch(left, ivec2(0, y), 0).b);
#elif ROWS == 1
    return vec4(element(A, y, j));
#else
    return texelFetch(A, ivec2(j, y), 0);
#endif
}

void main() {
    ivec2 fragment = ivec2(gl_FragCoord.xy);
    int top = k / ROWS + fragment.y * block.x;
    int first = k + fragment.x * block.y;
    int bottom = min(top + block.x, (shape.x + ROWS - 1) / ROWS);
    int end = min(first + block.y, COMPLETE == 1 ? shape.y : k + 1);
    candidate = NO_CANDIDATE;
    for (int y = top; y < bottom; ++y) {
        for (int j = first; j < end; ++j) {
            vec4 values = rows_at(y, j);
            for (int lane = 0; lane < ROWS; ++lane) {
                int i = ROWS * y + lane;
                if (i >= k && i < shape.x) candidate = better(candidate, vec4(abs(values[lane]), i, j, 0.0));
            }
        }
    }
}
