// C = A B with four consecutive elements of a column (4x1), or of a row (1x4), in a texel.
//
// A fragment computes four elements of C, a slice of their sums at a time (CONTINUE). A trip is four inner indices. In the
// 4x1 layout it fetches four of B's column in one texel, and the four columns of A that they multiply:
//
//     C[4y..4y+3, x]  +=  A[4y..4y+3, 4t] B[4t, x]  +  ...  +  A[4y..4y+3, 4t+3] B[4t+3, x]
//
// In the 1x4 layout the parts are exchanged: one texel of A's row, four of B.
// 4x1: A   rows/4 x inner      B   inner/4 x columns      C   rows/4 x columns
// 1x4: A   rows x inner/4      B   inner x columns/4      C   rows x columns/4      see packing/to_quads.frag
// Cost per fragment: 5 fetches and 32 flop per trip, `count` trips; 1 fetch more with CONTINUE. The 2x2 layout needs 4
// fetches for 32 flop, yet a texel of A here is used by four products and not by two.
// Fetches: 5 * count + CONTINUE.
// Moravanszky, "Dense matrix algebra on the GPU" (2003); "ATI Single" and, in several passes, "ATI Multi" of Fatahalian,
// Sugerman and Hanrahan (2004).

#ifndef ACROSS
#define ACROSS 0  // four elements of a column (0), or of a row (1)
#endif
#ifndef CONTINUE
#define CONTINUE 0  // start from what an earlier pass computed (0, 1)
#endif

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform int first;  // first group of four inner indices
uniform int count;  // groups of four inner indices

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
#if CONTINUE
    vec4 sum = texelFetch(C, texel, 0);
#else
    vec4 sum = vec4(0.0);
#endif
    for (int t = first; t < first + count; ++t) {
#if ACROSS
        vec4 a = texelFetch(A, ivec2(t, texel.y), 0);
        sum += a.r * texelFetch(B, ivec2(texel.x, 4 * t), 0);
        sum += a.g * texelFetch(B, ivec2(texel.x, 4 * t + 1), 0);
        sum += a.b * texelFetch(B, ivec2(texel.x, 4 * t + 2), 0);
        sum += a.a * texelFetch(B, ivec2(texel.x, 4 * t + 3), 0);
#else
        vec4 b = texelFetch(B, ivec2(texel.x, t), 0);
        sum += b.r * texelFetch(A, ivec2(4 * t, texel.y), 0);
        sum += b.g * texelFetch(A, ivec2(4 * t + 1, texel.y), 0);
        sum += b.b * texelFetch(A, ivec2(4 * t + 2, texel.y), 0);
        sum += b.a * texelFetch(A, ivec2(4 * t + 3, texel.y), 0);
#endif
    }
    result = sum;
}
