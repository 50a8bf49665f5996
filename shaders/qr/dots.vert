// Where a pass of inner products draws: a row of texels for each slice.

#include "qr/step.glsl"

void main() {
    begin_step();
    gl_Position = corner_of(ivec4(k, 0, size.y - k, slices), ivec4(0));
}
