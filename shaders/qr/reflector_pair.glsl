// The two reflectors of a pair of columns, and what they do to a pair of columns beside it.
//
// The first one comes from column 2k as it is, the second one from column 2k + 1 after the first. Inner products with
// what is below their rows are there already, in D, in `slices` partial sums (qr/dots.frag):
//
//     D[j] = (x . a_0, x . a_1, y . b_0, y . b_1)    x: column 2k below row 2k       a: columns 2j, 2j + 1 before,
//                                                    y: column 2k + 1 below 2k + 1   b: after the first reflector

#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "lib/packed.glsl"
#include "qr/reflector.glsl"

vec4 dots(sampler2D D, int j, int slices) {
    vec4 sum = vec4(0.0);
    for (int slice = 0; slice < slices; slice += AT_ONCE) {
        vec4 some[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i) {
            some[i] = texelFetch(D, at_second(ivec2(j, min(slice + i, slices - 1))), 0);
        }
        for (int i = 0; i < AT_ONCE; ++i) {
            if (slice + i < slices) sum += some[i];
        }
    }
    return sum;
}

struct First {    // the first reflector, and what it does to column 2k + 1
    Reflector h;
    vec4 top;     // the block (k, k)
    float t;      // tau (v . column 2k + 1)
    float below;  // v in row 2k + 1
};

First first_of(sampler2D A, sampler2D D, int k, int slices) {
    vec4 top = texelFetch(A, at(ivec2(k, k)), 0);
    vec4 sums = dots(D, k, slices);
    Reflector h = reflector(top.r, sums.r);
    return First(h, top, h.tau * (top.g + sums.g * h.inverse), top.b * h.inverse);
}

// What the first reflector takes from columns 2j and 2j + 1, in units of v: tau (v . a).
vec2 taken(First one, vec2 top_row, vec2 sums) {
    return one.h.tau * (top_row + sums * one.h.inverse);
}
