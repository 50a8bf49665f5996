// Images as columns, pixel by pixel along the rows, and the small kernel K that a degraded image comes from:
//
//     g[i] = sum over t of K[t] f[i + t - centre],   f zero outside of the image; i, t: (row, column).

#include "lib/packed.glsl"

uniform sampler2D K;   // the kernel, packed
uniform ivec2 kernel;  // its rows and columns
uniform ivec2 centre;
uniform ivec2 image;   // rows and columns

ivec2 pixel(int p) {
    int row = p / image.y;
    return ivec2(row, p - row * image.y);
}

float weight(ivec2 t) {
    vec2 pair = row_pair(K, t.x, t.y >> 1);
    return (t.y & 1) == 0 ? pair.x : pair.y;
}
