// sums_k = A_k . B_k over a block of texels: up to four inner products at once.
//
// A fragment sums BLOCK x BLOCK texels; `fold.frag`, and whoever reads the scalars, sum the rest.
// A0, B0, ...  vectors, wrapped, zeros behind the last element        sums  a channel for each product
// Cost per fragment: 2 PAIRS BLOCK^2 fetches, 8 PAIRS BLOCK^2 flop.
// Fetches: 2 * PAIRS to 2 * PAIRS * BLOCK * BLOCK.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction).

#ifndef PAIRS
#define PAIRS 1  // inner products (1, 2, 3, 4)
#endif
#ifndef BLOCK
#define BLOCK 16  // texels of a side
#endif

uniform sampler2D A0;
uniform sampler2D B0;
#if PAIRS > 1
uniform sampler2D A1;
uniform sampler2D B1;
#endif
#if PAIRS > 2
uniform sampler2D A2;
uniform sampler2D B2;
#endif
#if PAIRS > 3
uniform sampler2D A3;
uniform sampler2D B3;
#endif

layout(location = 0) out vec4 sums;

float sum(vec4 a) {
    return (a.r + a.g) + (a.b + a.a);
}

void main() {
    ivec2 first = BLOCK * ivec2(gl_FragCoord.xy);
    ivec2 end = min(first + BLOCK, textureSize(A0, 0));
    vec4 s0 = vec4(0.0);
    vec4 s1 = vec4(0.0);
    vec4 s2 = vec4(0.0);
    vec4 s3 = vec4(0.0);
    for (int y = first.y; y < end.y; ++y) {
        for (int x = first.x; x < end.x; ++x) {
            ivec2 at = ivec2(x, y);
            s0 += texelFetch(A0, at, 0) * texelFetch(B0, at, 0);
#if PAIRS > 1
            s1 += texelFetch(A1, at, 0) * texelFetch(B1, at, 0);
#endif
#if PAIRS > 2
            s2 += texelFetch(A2, at, 0) * texelFetch(B2, at, 0);
#endif
#if PAIRS > 3
            s3 += texelFetch(A3, at, 0) * texelFetch(B3, at, 0);
#endif
        }
    }
    sums = vec4(sum(s0), sum(s1), sum(s2), sum(s3));
}
