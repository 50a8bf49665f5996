// A pass of a chain in one texture, see probe/increment.frag: drawn as two rectangles that cut through blocks of 2 x 2.

#include "lib/sheet.glsl"

uniform ivec2 size;  // texels across and down

flat out int k;

void main() {
    k = begin_pass();
    gl_Position = corner_of(ivec4(0, 0, 3, size.y), ivec4(3, 0, size.x - 3, size.y));
}
