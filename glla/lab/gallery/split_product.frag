// C = A B with the sum in parts: LANES running sums side by side, and PASSES render passes one after the other.
//
// A sum of K terms, one by one, may be off by K u times their magnitudes; of LANES partial sums, each is shorter, and
// the bound falls to about (K / LANES + LANES) u. See the column "error" of the comparison. The sums do not wait for each
// other, which also helps a GPU that does several things at a time. A pass of fewer trips reads less of A and B, which a
// cache may hold; it goes on from the sums of the pass before it, which it finds in C (CONTINUE).
//
// A fragment computes one texel of C.
// A   rows x inner, packed      B   inner x columns, packed      C   rows x columns, packed: the sums so far
// Cost per fragment: 2 fetches and 16 flop per trip, `count` trips; 1 fetch more with CONTINUE.
// Higham, "Accuracy and stability of numerical algorithms" (2002), section 4.2.
//
// Try it:  glla shader show split_product > my.frag && glla compare matmul --shader my.frag --param LANES=1,2,4 --param PASSES=1,4

#ifndef LANES
#define LANES 4  // running sums (1, 2, 4, 8)
#endif
#ifndef PASSES
#define PASSES 1  // render passes, heeded by glla (1, 2, 4, 8)
#endif
#ifndef CONTINUE
#define CONTINUE 0  // go on from C; defined by glla (0, 1)
#endif
#if LANES * PASSES > 16
#error LANES * PASSES must not exceed 16: parts so short are not worth their while
#endif

#include "lib/packed.glsl"
#include "lib/block_product.glsl"

uniform sampler2D A;
uniform sampler2D B;
#if CONTINUE
uniform sampler2D C;
#endif
uniform int first;    // first texel of the inner dimension
uniform int count;    // texels of the inner dimension
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 sums[LANES];
    for (int lane = 0; lane < LANES; ++lane) sums[lane] = vec4(0.0);
    int end = first + count;
    for (int k = first; k < end; k += LANES) {
        for (int lane = 0; lane < LANES; ++lane) {
            if (k + lane >= end) break;
            vec4 a = texelFetch(A, ivec2(k + lane, texel.y), 0);
            vec4 b = texelFetch(B, ivec2(texel.x, k + lane), 0);
            sums[lane] = add_block_product(sums[lane], a, b);
        }
    }
#if CONTINUE
    vec4 sum = texelFetch(C, texel, 0);
#else
    vec4 sum = vec4(0.0);
#endif
    for (int lane = 0; lane < LANES; ++lane) sum += sums[lane];
    result = without_padding(sum, texel, shape);
}
