// raw = A, or A and then B: from the wrapped layout to one element per texel, row by row, as stacks travel.
//
// A fragment computes one element.
// A, B   wrapped, in C order      raw   one element per texel
// Cost per fragment: 1 fetch.

#ifndef PARTS
#define PARTS 1  // operands (1, 2)
#endif

#include "lib/wrapped_element.glsl"

uniform sampler2D A;
#if PARTS == 2
uniform sampler2D B;
#endif
uniform ivec3 extent;  // elements of A, of both together, texels in a row of raw

layout(location = 0) out float element;

void main() {
    int i = int(gl_FragCoord.y) * extent.z + int(gl_FragCoord.x);
    element = 0.0;
    if (i < extent.x) element = element_of(A, i);
#if PARTS == 2
    else if (i < extent.y) element = element_of(B, i - extent.x);
#endif
}
