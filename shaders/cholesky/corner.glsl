// First texel of the block on the diagonal of 16 columns: of those that a step of a chain makes (CHAIN), or as given.

#ifndef CHAIN
#define CHAIN 0  // the vertex stage has it from the step of the pass (0, 1), see cholesky/chain.glsl
#endif

#if CHAIN
flat in ivec2 corner;
#else
uniform ivec2 corner;
#endif
