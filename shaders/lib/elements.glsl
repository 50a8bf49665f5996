// Elements by row and column, for a shader that thinks in elements and not in texels:
//
//     float twice(int i, int j) { return 2.0 * element(A, i, j); }
//     void main() { result = each_element(twice); }
//
// A texel has four elements, so the function is called four times; where the matrix ends within the texel, also for
// elements outside of it, which nobody looks at. It declares `shape`, rows and columns of the result.

#include "lib/packed.glsl"

uniform ivec2 shape;

// M[i, j]. What is outside of M is undefined.
float element(sampler2D M, int i, int j) {
    vec2 pair = row_pair(M, i, j >> 1);
    return (j & 1) == 0 ? pair.x : pair.y;
}

// An index as if the first and the last one went on for ever: -1 is 0.
int clamped(int i, int count) {
    return clamp(i, 0, count - 1);
}

// An index as if all came again and again: -1 is the last one. GLSL's % is undefined for negative numbers.
int wrapped(int i, int count) {
    return i < 0 ? count - 1 - (-1 - i) % count : i % count;
}

// M[i, j] of a matrix of the shape of the result: beyond its edges the elements of the edges go on, or it begins anew,
// or another number is there.
float element_clamped(sampler2D M, int i, int j) {
    return element(M, clamped(i, shape.x), clamped(j, shape.y));
}

float element_wrapped(sampler2D M, int i, int j) {
    return element(M, wrapped(i, shape.x), wrapped(j, shape.y));
}

float element_or(sampler2D M, int i, int j, float outside) {
    return i < 0 || j < 0 || i >= shape.x || j >= shape.y ? outside : element(M, i, j);
}

// Row and column of the first of the four elements that this fragment writes.
int own_row() { return 2 * int(gl_FragCoord.y); }
int own_column() { return 2 * int(gl_FragCoord.x); }

#define elements_from(f, i, j) vec4(f(i, j), f(i, j + 1), f(i + 1, j), f(i + 1, j + 1))
#define each_element(f) elements_from(f, own_row(), own_column())
