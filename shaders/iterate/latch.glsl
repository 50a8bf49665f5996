// A latch one iteration later, see `latch.frag`. A shader that draws a stop texel with LATCHED draws its latch beside it, so
// that a loop has no pass for that: it declares ``latched``, its last target, and says LATCH(first channel of the texel).

#ifndef LATCHED
#define LATCHED 0  // the loop's latch is drawn too (0, 1)
#endif

ivec4 later(ivec4 latch, int said, bool zero) {
    return latch.g == 0 ? ivec4(latch.r + 1, zero ? 0 : 1, said, 0) : latch;
}

#if LATCHED
uniform isampler2D latch;
#define LATCH(said) latched = later(texelFetch(latch, ivec2(0), 0), floatBitsToInt(said), said == 0.0);
#else
#define LATCH(said)
#endif
