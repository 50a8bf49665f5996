// Where a block of steps of a substitution draws: its rows, those still open, and those of the block before.

#ifndef STEPS
#define STEPS 4  // texel rows that a pass solves (4, 8)
#endif
#ifndef UPPER
#define UPPER 0  // T is upper triangular: substitute backward (0, 1)
#endif

#include "lib/sheet.glsl"

uniform ivec2 shape;  // rows and columns of X

flat out int t;  // texel row that is solved first

void main() {
    int done = STEPS * begin_pass(), height = (shape.x + 1) / 2, kept = max(done - STEPS, 0);
    t = UPPER == 1 ? height - 1 - done : done;
    gl_Position = corner_of(ivec4(0, UPPER == 1 ? 0 : kept, (shape.y + 1) / 2, height - kept), ivec4(0));
}
