// sums_k = the inner product number k over a block of texels: up to four at once.
//
// A fragment sums BLOCK x BLOCK texels, every fourth of four times as wide and high a square, which 4 x 4 fragments share:
// they fetch neighbours at the same time. `fold.frag`, and whoever reads the scalars, sum the rest. Each vector is
// fetched once, in however many products it is.
// V0, V1, ...  vectors, wrapped, zeros behind the last element        sums  a channel for each product
// Cost per fragment: VECTORS BLOCK^2 fetches, 32 BLOCK^2 flop at most.
// Fetches: VECTORS to VECTORS * BLOCK * BLOCK.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction).

#ifndef VECTORS
#define VECTORS 1  // vectors (1, 2, 3, 4, 5)
#endif
#ifndef DOTS
#define DOTS DOT(sum_r, v0, v0)  // DOT(sum, v, w) of each inner product
#endif
#ifndef BLOCK
#define BLOCK 16  // texels of a side
#endif

#include "lib/sampled.glsl"

uniform sampler2D V0;
uniform sampler2D V1;  // those behind the last are not fetched
uniform sampler2D V2;
uniform sampler2D V3;
uniform sampler2D V4;

layout(location = 0) out vec4 sums;

float sum(vec4 a) {
    return (a.r + a.g) + (a.b + a.a);
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    ivec2 first = 4 * BLOCK * (own >> 2) + (own & 3);
    ivec2 end = min(first + 4 * BLOCK, textureSize(V0, 0));
    vec2 scale = 1.0 / vec2(textureSize(V0, 0));
    vec4 sum_r = vec4(0.0);
    vec4 sum_g = vec4(0.0);
    vec4 sum_b = vec4(0.0);
    vec4 sum_a = vec4(0.0);
    for (int y = first.y; y < end.y; y += 4) {
        for (int x = first.x; x < end.x; x += 4) {
            vec4 v0 = AT(V0, ivec2(x, y), scale);
            vec4 v1 = VECTORS > 1 ? AT(V1, ivec2(x, y), scale) : vec4(0.0);
            vec4 v2 = VECTORS > 2 ? AT(V2, ivec2(x, y), scale) : vec4(0.0);
            vec4 v3 = VECTORS > 3 ? AT(V3, ivec2(x, y), scale) : vec4(0.0);
            vec4 v4 = VECTORS > 4 ? AT(V4, ivec2(x, y), scale) : vec4(0.0);
#define DOT(total, v, w) total += v * w;
            DOTS
        }
    }
    sums = vec4(sum(sum_r), sum(sum_g), sum(sum_b), sum(sum_a));
}
