// The vectors V0, V1, ... of a pass, VECTORS of them (1 to 5); the names behind the last are V0, which is not fetched there.

uniform sampler2D V0;
#if VECTORS > 1
uniform sampler2D V1;
#else
#define V1 V0
#endif
#if VECTORS > 2
uniform sampler2D V2;
#else
#define V2 V0
#endif
#if VECTORS > 3
uniform sampler2D V3;
#else
#define V3 V0
#endif
#if VECTORS > 4
uniform sampler2D V4;
#else
#define V4 V0
#endif
