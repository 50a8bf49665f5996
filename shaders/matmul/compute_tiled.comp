// C = A B by a compute shader, with memory that the invocations of a group share; fragments have none.
//
// A work group computes TILE WORK x TILE WORK texels of C. Together its invocations load a tile of A and one of B, TILE
// texels of the inner dimension deep, each texel once; then each multiplies out of the tiles, WORK x WORK texels of C in
// registers. A fragment has to fetch everything itself, and hopes for the texture cache.
// A   rows x inner, packed      B   inner x columns, packed      C   rows x columns, packed
// Cost per invocation: per TILE texels of the inner dimension 2 WORK fetches, 2 TILE WORK loads from shared memory and
// 16 TILE WORK WORK flop.
// Fetches: 2 * count * (1 + (TILE * WORK - 1) * (shape_x % (2 * TILE * WORK) + shape_y % (2 * TILE * WORK) + count % TILE == 0)) to (2 * ((count + TILE - 1) / TILE) + CONTINUE * WORK) * WORK * TILE * TILE.
// Needs OpenGL 4.3. Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra" (2008): tiles in shared memory,
// several results in the registers of an invocation.

#ifndef WORK
#define WORK 2  // texels of C in either direction that an invocation computes (1, 2, 4)
#endif
#ifndef TILE
#define TILE 16  // invocations of a group in either direction (8, 16)
#endif
#ifndef CONTINUE
#define CONTINUE 0  // start from the blocks of C that an earlier dispatch computed (0, 1)
#endif
#if TILE * TILE * WORK > 1024
#error two tiles of TILE x TILE WORK texels must fit into the 32 KiB of shared memory that OpenGL 4.3 grants
#endif

layout(local_size_x = TILE, local_size_y = TILE) in;

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

layout(rgba32f, binding = 0) writeonly uniform image2D result;

shared vec4 tile_a[TILE * WORK][TILE];
shared vec4 tile_b[TILE][TILE * WORK];

void main() {
    ivec2 local = ivec2(gl_LocalInvocationID.xy);
    ivec2 corner = ivec2(gl_WorkGroupID.xy) * TILE * WORK + local;  // the invocation's texels are TILE apart from here
    ivec2 size = (shape.yx + 1) / 2;
    int end = first + count;
    vec4 sum[WORK * WORK];
    for (int i = 0; i < WORK * WORK; ++i) sum[i] = vec4(0.0);
    for (int start = first; start < end; start += TILE) {
        ivec2 inner = start + local;
        for (int i = 0; i < WORK; ++i) {
            ivec2 at = corner + i * TILE;
            bool in_a = inner.x < end && at.y < size.y;
            bool in_b = inner.y < end && at.x < size.x;
            tile_a[local.y + i * TILE][local.x] = in_a ? texelFetch(A, ivec2(inner.x, at.y), 0) : vec4(0.0);
            tile_b[local.y][local.x + i * TILE] = in_b ? texelFetch(B, ivec2(at.x, inner.y), 0) : vec4(0.0);
        }
        memoryBarrierShared();
        barrier();
        for (int k = 0; k < TILE; ++k) {
            vec4 b[WORK];
            for (int j = 0; j < WORK; ++j) b[j] = tile_b[k][local.x + j * TILE];
            for (int i = 0; i < WORK; ++i) {
                vec4 a = tile_a[local.y + i * TILE][k];
                for (int j = 0; j < WORK; ++j) sum[i * WORK + j] = add_block_product(sum[i * WORK + j], a, b[j]);
            }
        }
        barrier();
    }
    for (int i = 0; i < WORK; ++i) {
        for (int j = 0; j < WORK; ++j) {
            ivec2 texel = corner + TILE * ivec2(j, i);
            if (texel.x >= size.x || texel.y >= size.y) continue;
            vec4 block = sum[i * WORK + j];
#if CONTINUE
            block += texelFetch(C, texel, 0);
#endif
            imageStore(result, texel, without_padding(block, texel, shape));
        }
    }
}
