// The vector of a sparse product, four elements to a texel (`lib/wrapped_element.glsl`), and the products of its terms.
//
// Widths of textures are macros, not uniforms: to divide by a constant takes a few multiplications.
// x is a sampler of the shader that includes this file.

#include "lib/wrapped_element.glsl"

#ifndef CONTINUE
#define CONTINUE 0  // go on from `before` (0, 1)
#endif
#ifndef WIDTH
#define WIDTH 1  // texels in a row of the result
#endif

#if CONTINUE
uniform sampler2D before;  // the sum so far
#endif

int own_texel() {  // number of the result's texel: rows 4 own_texel() and the three behind it
    return int(gl_FragCoord.y) * WIDTH + int(gl_FragCoord.x);
}

// An element of x by its place, which the host worked out: row of its texel, column (15 bits each), channel (2 bits).
float x_at(int place) {
    return channel(texelFetch(x, ivec2((place >> 2) & 0x7fff, (place >> 17) & 0x7fff), 0), place);
}

// A zero is no entry of a sparse matrix: what x has there, NaN or infinity, does not count.
float term(float a, float x) {
    return a == 0.0 ? 0.0 : a * x;
}

vec4 terms(vec4 a, vec4 x) {
    return vec4(term(a.r, x.r), term(a.g, x.g), term(a.b, x.b), term(a.a, x.a));
}
