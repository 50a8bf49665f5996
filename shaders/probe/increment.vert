// A pass of a chain in one texture, see probe/increment.frag: drawn as two rectangles that cut through blocks of 2 x 2.

#include "lib/sheet.glsl"
#include "lib/packed.glsl"

uniform ivec2 size;  // texels across and down

flat out int k;

void main() {
    k = step_of_chain();
#if SHEET
    drawn_at = column_of(0);
    sampled_at = column_of(1);
#endif
    gl_Position = corner_of(ivec4(0, 0, 3, size.y), ivec4(3, 0, size.x - 3, size.y));
}
