// Arrays of any number of dimensions that are wrapped: element i is channel i % 4 of texel i / 4, and texel t is at
// (t % width, t / width).
//
// A fragment computes four elements of a result that is in C order; they are called by their numbers. An operand is
// seen over the shape of the result. With RANK = 0 all operands are seen in whole texels:
//
//     NAME_view = (first texel, texels from one to the next: 1, or 0 for a single element, channel of a single element)
//
// else element by element, over a `shape` of RANK dimensions:
//
//     NAME_view = (stride of each dimension, offset)
//
// The spare channels behind the last element are zero in every result.
// Index arithmetic is that of 32-bit integers: 10^9 elements fit.

#include "lib/wrapped_element.glsl"

#ifndef RANK
#define RANK 2  // dimensions of the shape (0 for whole texels, 2, 4, 8, 32)
#endif
#if RANK
#define VIEW (RANK + 1)
uniform int shape[RANK];
#else
#define VIEW 3
#endif

uniform ivec2 extent;  // elements of the result, texels in a row of its texture

int own_texel_number() {
    return int(gl_FragCoord.y) * extent.y + int(gl_FragCoord.x);
}

int own_element() {  // number of the first
    return 4 * own_texel_number();
}

// How many of them there are, 4 but in the last texel. A loop over them is not written out by the compiler, which would
// have four times as much to compile.
int own_count() {
    return min(4, extent.x - own_element());
}

bool is_spare() {  // the texel is behind the last element
    return own_element() >= extent.x;
}

vec4 without_spare(vec4 texel) {
    bvec4 spare = greaterThanEqual(ivec4(own_element()) + ivec4(0, 1, 2, 3), ivec4(extent.x));
    return vec4(spare.r ? 0.0 : texel.r, spare.g ? 0.0 : texel.g, spare.b ? 0.0 : texel.b, spare.a ? 0.0 : texel.a);
}

ivec4 without_spare(ivec4 texel) {
    bvec4 spare = greaterThanEqual(ivec4(own_element()) + ivec4(0, 1, 2, 3), ivec4(extent.x));
    return ivec4(spare.r ? 0 : texel.r, spare.g ? 0 : texel.g, spare.b ? 0 : texel.b, spare.a ? 0 : texel.a);
}

vec4 elements_of(sampler2D A, ivec4 i) {
    return vec4(element_of(A, i.x), element_of(A, i.y), element_of(A, i.z), element_of(A, i.w));
}

ivec4 elements_of(isampler2D A, ivec4 i) {
    return ivec4(element_of(A, i.x), element_of(A, i.y), element_of(A, i.z), element_of(A, i.w));
}

// The four elements' numbers; those behind the last repeat it, so that nobody looks outside of a texture.
ivec4 own_elements() {
    return min(ivec4(own_element()) + ivec4(0, 1, 2, 3), ivec4(extent.x - 1));
}

#if RANK
ivec4 coordinates[RANK];  // of the four elements

void locate(ivec4 i) {
    for (int d = RANK - 1; d > 0; --d) {
        ivec4 outer = i / shape[d];
        coordinates[d] = i - outer * shape[d];
        i = outer;
    }
    coordinates[0] = i;
}

ivec4 places(int view[VIEW]) {
    ivec4 place = ivec4(view[RANK]);
    for (int d = 0; d < RANK; ++d) place += coordinates[d] * view[d];
    return place;
}

void locate_own() {
    locate(own_elements());
}

vec4 seen(sampler2D A, int view[VIEW]) {
    return elements_of(A, places(view));
}

ivec4 seen(isampler2D A, int view[VIEW]) {
    return elements_of(A, places(view));
}
#else
void locate_own() {
}

vec4 seen(sampler2D A, int view[VIEW]) {
    vec4 texel = texel_of(A, view[0] + view[1] * own_texel_number());
    return view[1] == 0 ? vec4(texel[view[2]]) : texel;
}

ivec4 seen(isampler2D A, int view[VIEW]) {
    ivec4 texel = texel_of(A, view[0] + view[1] * own_texel_number());
    return view[1] == 0 ? ivec4(texel[view[2]]) : texel;
}
#endif
