// For vertex shaders: the step of a pass, which pair of columns it takes, and the slices into which they are cut for sums.

#include "lib/sheet.glsl"

uniform ivec2 size;  // of A, in texels: height and width
uniform int most;    // slices at most

flat out int k;       // texel column of the pair
flat out int slices;
flat out int chunk;   // texels of a slice

void begin_step() {
    k = begin_pass();
    int rows = size.x - k;
    slices = min((rows + 63) / 64, most);
    chunk = (rows + slices - 1) / slices;
}
