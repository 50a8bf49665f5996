// Pivot search: the best two rows that share a texel, by the harmonic norm of their block in columns 2k and 2k+1.
//
// With GEOMETRIC: Pivot search: the best two rows that share a texel, by the geometric norm of their block.
//
// One search finds both pivots of a step. A fragment looks at `chunk` texels; lib/block_norm.glsl has the norms.
//
// It computes one candidate (norm, p, q, w), see lib/offer.glsl. w is the largest entry seen.
//
// A           rows x columns, packed
// record      for an echelon form, the records so far, see pivot/record.frag
// tolerance   for an echelon form 1x1: a pivot up to tolerance.r is none
// Cost per fragment: `chunk` fetches; 8 to 12 flop and 3 or 4 divisions for each texel, with GEOMETRIC 2 square roots.
// Fetches: 8 to chunk + 7 + 2 * (FIXED == 0).
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.2.

#include "pivot/column_search.glsl"
#include "lib/block_norm.glsl"

#if FIXED == 0
uniform sampler2D tolerance;
#endif

layout(location = 0) out vec4 candidate;

float smallest = 0.0;  // a pivot up to this is none

void look_at_texel(int y, vec4 block) {
    look_at_block(y, block, r, shape.x, 2 * k + 1 >= shape.y, smallest);
}

void main() {
    begin_search();
#if FIXED == 0
    smallest = texelFetch(tolerance, ivec2(0), 0).r;
#endif
    look_at_all_texels();
    candidate = best;
}
