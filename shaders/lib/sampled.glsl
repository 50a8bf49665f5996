// Texels of vectors that are in textures of one size: of the fragment's own, and of any place.
//
// With SAMPLED they are read by normalised coordinates, at their middle, which takes llvmpipe half of the time of
// texelFetch: that compares each place with the size of its texture. Samplers here neither filter nor repeat, so the same
// texel comes back, bit for bit: a coordinate errs by 2^-9 of a texel at most, in textures of 16384 of them.

#ifndef SAMPLED
#define SAMPLED 0  // read by normalised coordinates (0, 1)
#endif

#if SAMPLED
#define FIND_OWN(A) vec2 own_place = gl_FragCoord.xy / vec2(textureSize(A, 0));
#define OWN(A) texture(A, own_place)
#define TEXEL(A) texture(A, vec2(0.5))
#define AT(A, p, scale) texture(A, (vec2(p) + 0.5) * scale)
#else
#define FIND_OWN(A) ivec2 own_place = ivec2(gl_FragCoord.xy);
#define OWN(A) texelFetch(A, own_place, 0)
#define TEXEL(A) texelFetch(A, ivec2(0), 0)
#define AT(A, p, scale) texelFetch(A, p, 0)
#endif
