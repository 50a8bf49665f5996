// Where both reflections of a step draw: what they change, and the row and column that are final since the step before.

#include "qr/step.glsl"

void main() {
    begin_step();
    int first = max(k - 1, 0);
    gl_Position = corner_of(ivec4(first, first, size.y - first, size.x - first), ivec4(0));
}
