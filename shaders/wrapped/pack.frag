// packed[i, j] = A[i, j]: from the wrapped layout to the packed one.
//
// A fragment computes one 2x2 block. A may have any strides, so a transpose costs nothing.
// A   wrapped, (stride of rows, stride of columns, offset); integers become floats      packed   rows x columns
// Cost per fragment: 4 fetches.

#include "lib/packed.glsl"
#include "lib/wrapped_element.glsl"
#include "wrapped/types.glsl"

uniform SAMPLER A;
uniform ivec3 A_view;
uniform ivec2 shape;  // rows and columns

layout(location = 0) out vec4 packed_block;

float entry(int i, int j) {
    return i < shape.x && j < shape.y ? float(element_of(A, i * A_view.x + j * A_view.y + A_view.z)) : 0.0;
}

void main() {
    packed_block = BLOCK_OF(entry, ivec2(gl_FragCoord.xy));
}
