// The functions of one and of two elements that a pass may be made of, by names that end in _of.

#ifndef FAMILY
#define FAMILY 0  // those of wrapped/integers.glsl or wrapped/floats.glsl (0), of trigonometric.glsl (1), hyperbolic.glsl (2)
#endif

#include "wrapped/types.glsl"
#if INTEGER
#include "wrapped/integers.glsl"
#else
#include "wrapped/floats.glsl"
#endif
#if FAMILY == 1
#include "wrapped/trigonometric.glsl"
#elif FAMILY == 2
#include "wrapped/hyperbolic.glsl"
#endif
