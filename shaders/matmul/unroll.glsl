// UNROLLED(STEP) writes STEP(0) ... STEP(UNROLL - 1): UNROLL trips of a loop with one test and one jump.

#ifndef UNROLL
#define UNROLL 1  // trips in one (1, 2, 4, 8)
#endif

#include "lib/repeat.glsl"

#if UNROLL == 1
#define UNROLLED(STEP) REPEAT_1(STEP, 0)
#elif UNROLL == 2
#define UNROLLED(STEP) REPEAT_2(STEP, 0)
#elif UNROLL == 4
#define UNROLLED(STEP) REPEAT_4(STEP, 0)
#elif UNROLL == 8
#define UNROLLED(STEP) REPEAT_8(STEP, 0)
#else
#error UNROLL must be 1, 2, 4 or 8
#endif
