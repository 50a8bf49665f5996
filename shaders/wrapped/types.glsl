// Types of the elements: of operands (INTEGER), and of the result (RESULT_INTEGER), by default the same.

#ifndef INTEGER
#define INTEGER 0  // operands hold integers (0, 1)
#endif
#ifndef RESULT_INTEGER
#define RESULT_INTEGER INTEGER  // the result does (0, 1)
#endif

#if INTEGER
#define SAMPLER isampler2D
#define TEXEL ivec4
#define ELEMENT int
#else
#define SAMPLER sampler2D
#define TEXEL vec4
#define ELEMENT float
#endif
#if RESULT_INTEGER
#define RESULT ivec4
#else
#define RESULT vec4
#endif
