// Elements by their numbers in C order, for a shader on arrays of any number of dimensions, of integers too:
//
//     int twice(int i) { return 2 * element(A, i); }
//     void main() { result = each_element(twice); }
//
// The arrays of such a shader are wrapped, four elements of C order in a texel, and so does its result; a shader that
// includes this file reads and writes no packed matrix. The function is called for the four elements of a fragment;
// behind the last element for the last one again. It gives float for `out vec4`, int or bool for `out ivec4`.

#include "lib/wrapped_element.glsl"

uniform int size;        // elements of the result
uniform int row_texels;  // texels in a row of its texture

// Element i of A. What is outside of A is undefined.
float element(sampler2D A, int i) { return element_of(A, i); }
int element(isampler2D A, int i) { return element_of(A, i); }

// An index as if the first and the last one went on for ever: -1 is 0.
int clamped(int i, int count) { return clamp(i, 0, count - 1); }
ivec2 clamped(ivec2 index, ivec2 shape) { return clamp(index, ivec2(0), shape - 1); }
ivec3 clamped(ivec3 index, ivec3 shape) { return clamp(index, ivec3(0), shape - 1); }
ivec4 clamped(ivec4 index, ivec4 shape) { return clamp(index, ivec4(0), shape - 1); }

// An index as if all came again and again: -1 is the last one. GLSL's % is undefined for negative numbers.
int wrapped(int i, int count) { return i < 0 ? count - 1 - (-1 - i) % count : i % count; }
ivec2 wrapped(ivec2 index, ivec2 shape) { return ivec2(wrapped(index.x, shape.x), wrapped(index.y, shape.y)); }
ivec3 wrapped(ivec3 index, ivec3 shape) { return ivec3(wrapped(index.xy, shape.xy), wrapped(index.z, shape.z)); }
ivec4 wrapped(ivec4 index, ivec4 shape) { return ivec4(wrapped(index.xyz, shape.xyz), wrapped(index.w, shape.w)); }

// Whether an index is one of an array of a shape.
bool inside(int i, int count) { return i >= 0 && i < count; }
bool inside(ivec2 index, ivec2 shape) { return index == clamped(index, shape); }
bool inside(ivec3 index, ivec3 shape) { return index == clamped(index, shape); }
bool inside(ivec4 index, ivec4 shape) { return index == clamped(index, shape); }

// Index of element i of an array of a shape, and the number of the element at an index.
ivec2 index_of(int i, ivec2 shape) {
    int row = i / shape.y;
    return ivec2(row, i - row * shape.y);
}

ivec3 index_of(int i, ivec3 shape) {
    int outer = i / shape.z;
    return ivec3(index_of(outer, shape.xy), i - outer * shape.z);
}

ivec4 index_of(int i, ivec4 shape) {
    int outer = i / shape.w;
    return ivec4(index_of(outer, shape.xyz), i - outer * shape.w);
}

int number_of(ivec2 index, ivec2 shape) { return index.x * shape.y + index.y; }
int number_of(ivec3 index, ivec3 shape) { return number_of(index.xy, shape.xy) * shape.z + index.z; }
int number_of(ivec4 index, ivec4 shape) { return number_of(index.xyz, shape.xyz) * shape.w + index.w; }

// A[index] of an array of a shape.
float element(sampler2D A, ivec2 index, ivec2 shape) { return element(A, number_of(index, shape)); }
float element(sampler2D A, ivec3 index, ivec3 shape) { return element(A, number_of(index, shape)); }
float element(sampler2D A, ivec4 index, ivec4 shape) { return element(A, number_of(index, shape)); }
int element(isampler2D A, ivec2 index, ivec2 shape) { return element(A, number_of(index, shape)); }
int element(isampler2D A, ivec3 index, ivec3 shape) { return element(A, number_of(index, shape)); }
int element(isampler2D A, ivec4 index, ivec4 shape) { return element(A, number_of(index, shape)); }

// Number of element k, 0 to 3, of the four that this fragment writes.
int own_element(int k) {
    int first = 4 * (int(gl_FragCoord.y) * row_texels + int(gl_FragCoord.x));
    return max(0, min(first + k, size - 1));
}

vec4 four(float r, float g, float b, float a) { return vec4(r, g, b, a); }
ivec4 four(int r, int g, int b, int a) { return ivec4(r, g, b, a); }
ivec4 four(bool r, bool g, bool b, bool a) { return ivec4(r, g, b, a); }

#define each_element(f) four(f(own_element(0)), f(own_element(1)), f(own_element(2)), f(own_element(3)))
