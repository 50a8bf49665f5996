// Unknowns as they are handed out: a packed matrix, records, or wrapped.
//
// A fragment computes one texel of the packed matrix (LAYOUT 1), or four elements of a wrapped array (LAYOUT 2): the
// unknowns of all matrices in NumPy's C order, n x columns each. Or (LAYOUT 0) one element: for each matrix its unknowns,
// and then (error, left, rhs, x), the worst of its systems.
// X        n unknowns of each system
// F        LAYOUT 0: a texel of diagnostics for each system, from `check`
// result   packed n x columns; raw, row by row; or wrapped
// Cost per fragment: 4 fetches; LAYOUT 0: 1, of a diagnostic one for each column.
// Hall, Carr and Hart, "Cache and bandwidth aware matrix multiplication on the GPU" (2003): the 2x2 layout.

#ifndef LAYOUT
#define LAYOUT 1  // layout of the result: records (0), packed (1), wrapped (2)
#endif
#define STACK 1

#include "lib/packed.glsl"

uniform sampler2D X;
uniform ivec2 shape;    // n, right sides of each matrix
#if LAYOUT == 0
uniform sampler2D F;
uniform ivec2 records;  // how many, elements of a row of `result`
#elif LAYOUT == 2
uniform ivec2 extent;   // elements of the result, texels in a row of its texture
#endif

#if LAYOUT
layout(location = 0) out vec4 result;
#else
layout(location = 0) out float result;
#endif

float unknown(int i, int system) {
    return texelFetch(X, at(ivec2(0, i), system), 0).r;
}

#if LAYOUT == 1
float element(int i, int j) {
    return i < shape.x && j < shape.y ? unknown(i, j) : 0.0;
}

void main() {
    result = BLOCK_OF(element, ivec2(gl_FragCoord.xy));
}
#elif LAYOUT == 2
float element(int place) {
    if (place >= extent.x) return 0.0;
    int row = place / shape.y;  // of all matrices below each other
    int matrix = row / shape.x;
    return unknown(row - matrix * shape.x, matrix * shape.y + place - row * shape.y);
}

void main() {
    int first = 4 * (int(gl_FragCoord.y) * extent.y + int(gl_FragCoord.x));
    result = vec4(element(first), element(first + 1), element(first + 2), element(first + 3));
}
#else
float diagnostic(int number, int matrix) {
    float worst = number == 1 ? 1.0 : 0.0;
    for (int column = 0; column < shape.y; ++column) {
        int system = matrix * shape.y + column;
        int y = system / grid.x;
        float found = texelFetch(F, ivec2(system - y * grid.x, y), 0)[number];
        worst = number == 1 ? min(worst, found) : max(worst, found);
    }
    return worst;
}

void main() {
    int place = int(gl_FragCoord.y) * records.y + int(gl_FragCoord.x);
    int length = shape.x * shape.y + 4;
    int matrix = place / length;
    int within = place - matrix * length;
    int i = within / shape.y;
    result = 0.0;
    if (matrix >= records.x) return;
    result = within < shape.x * shape.y ? unknown(i, matrix * shape.y + within - i * shape.y)
                                        : diagnostic(within - shape.x * shape.y, matrix);
}
#endif
