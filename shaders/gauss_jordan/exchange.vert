// The row that is exchanged with row k: k itself, unless its entry of column k is exactly zero; then the first one below
// that has an entry there. The source copies the column to the CPU for that.

#include "lib/fullscreen.glsl"
#include "lib/packed.glsl"

uniform sampler2D M;
uniform int order;

flat out ivec2 exchanged;  // rows k and p

float entry(int i, int k) {
    vec2 pair = row_pair(M, i, k >> 1);
    return (k & 1) == 0 ? pair.x : pair.y;
}

void main() {
    gl_Position = triangle_corner();
    int k = step_of_pass();
    int p = k;
    while (p < order && entry(p, k) == 0.0) ++p;
    exchanged = ivec2(k, p < order ? p : k);
}
