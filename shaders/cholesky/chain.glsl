// For vertex shaders: where a pass for 16 columns draws, if it is one of the chain of a panel (CHAIN).

#include "lib/sheet.glsl"

#ifndef CHAIN
#define CHAIN 0  // the step of the pass says which 16 columns it makes (0, 1), see cholesky/corner.glsl
#endif

#if CHAIN
uniform ivec2 size;  // of the panel, in texels: height and width
uniform int start;   // row of texels of its first block on the diagonal

flat out ivec2 corner;

int begin_columns() {  // gives their number, in texels
    int step = begin_pass();
    corner = ivec2(8 * step, start + 8 * step);
    return min(8, size.y - corner.x);
}
#endif
