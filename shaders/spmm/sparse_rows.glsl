// The product of a sparse matrix and a matrix X whose rows are whole texels, one behind the other, wrapped.
//
// Rows of X and Y have QUADS texels of four columns each. A fragment computes four columns of one row, so that an entry
// of the matrix costs one texel of X for four products.
// X is a sampler of the shader that includes this file.

#include "lib/wrapped_element.glsl"

#ifndef QUADS
#define QUADS 1  // texels in a row of X and Y
#endif
#ifndef ROWS
#define ROWS 1  // rows of the matrix
#endif
#ifndef COLUMNS
#define COLUMNS 1  // columns of the matrix, rows of X
#endif
#ifndef CONTINUE
#define CONTINUE 0  // go on from `before` (0, 1)
#endif
#ifndef WIDTH
#define WIDTH 1  // texels in a row of Y's texture
#endif
#ifndef X_WIDTH
#define X_WIDTH 1  // texels in a row of X's texture
#endif

struct Own {
    int row;   // of the matrix; ROWS or more behind the last
    int quad;  // columns 4 quad and the three behind it
};

Own own_row() {
    int t = int(gl_FragCoord.y) * WIDTH + int(gl_FragCoord.x);
    int row = t / QUADS;
    return Own(row, t - row * QUADS);
}

#if CONTINUE
uniform sampler2D before;
#define begun() texelFetch(before, ivec2(gl_FragCoord.xy), 0)
#else
#define begun() vec4(0.0)
#endif

// a times four elements of row j of X. A zero is no entry of a sparse matrix: what X has there does not count.
vec4 scaled_row(float a, int j, int quad) {
    return a == 0.0 ? vec4(0.0) : a * texelFetch(X, place_of(j * QUADS + quad, X_WIDTH), 0);
}

// The element that a place of the host stands for, in a vector whose texture is so wide; see `x_at` of spmv/sparse.glsl.
int element_at(int place, int width) {
    int y = (place >> 17) & 0x7fff;
    return 4 * (y * width + ((place >> 2) & 0x7fff)) + (place & 3);
}
