// Unknowns as they are handed out: a packed matrix, or records.
//
// A fragment computes one texel of the packed matrix (PACKED 1), or one element: for each matrix of a stack its
// unknowns in NumPy's C order, n x columns, and then (error, left, rhs, x), the worst of its systems.
// X        n unknowns of each system
// F        PACKED 0: a texel of figures for each system, from `check`
// result   packed n x columns, or raw, row by row
// Cost per fragment: 4 fetches; PACKED 0: 1, of a figure one for each column.
// Hall, Carr and Hart, "Cache and bandwidth aware matrix multiplication on the GPU" (2003): the 2x2 layout.

#ifndef PACKED
#define PACKED 1  // a packed matrix (1), or records (0)
#endif
#define STACK 1

#include "lib/stack.glsl"

uniform sampler2D X;
uniform ivec2 shape;    // n, right sides of each matrix
#if PACKED == 0
uniform sampler2D F;
uniform ivec2 records;  // how many, elements of a row of `result`
#endif

#if PACKED
layout(location = 0) out vec4 result;
#else
layout(location = 0) out float result;
#endif

float unknown(int i, int system) {
    int y = system / grid.x;
    return texelFetch(X, ivec2(system - y * grid.x, i * grid.y + y), 0).r;
}

#if PACKED
float element(int i, int j) {
    return i < shape.x && j < shape.y ? unknown(i, j) : 0.0;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int i = 2 * texel.y;
    int j = 2 * texel.x;
    result = vec4(element(i, j), element(i, j + 1), element(i + 1, j), element(i + 1, j + 1));
}
#else
float figure(int number, int member) {
    float worst = number == 1 ? 1.0 : 0.0;
    for (int column = 0; column < shape.y; ++column) {
        int system = member * shape.y + column;
        int y = system / grid.x;
        float found = texelFetch(F, ivec2(system - y * grid.x, y), 0)[number];
        worst = number == 1 ? min(worst, found) : max(worst, found);
    }
    return worst;
}

void main() {
    int place = int(gl_FragCoord.y) * records.y + int(gl_FragCoord.x);
    int length = shape.x * shape.y + 4;
    int member = place / length;
    int within = place - member * length;
    int i = within / shape.y;
    result = 0.0;
    if (member >= records.x) return;
    result = within < shape.x * shape.y ? unknown(i, member * shape.y + within - i * shape.y)
                                        : figure(within - shape.x * shape.y, member);
}
#endif
