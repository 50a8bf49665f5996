// Render targets for ROWS x COLUMNS texels that a fragment computes, and PUT(sum), which writes the array of them.

layout(location = 0) out vec4 C0;
#if ROWS * COLUMNS > 1
layout(location = 1) out vec4 C1;
#define PUT_2(sum) C1 = sum[1];
#else
#define PUT_2(sum)
#endif
#if ROWS * COLUMNS > 2
layout(location = 2) out vec4 C2;
layout(location = 3) out vec4 C3;
#define PUT_4(sum) C2 = sum[2]; C3 = sum[3];
#else
#define PUT_4(sum)
#endif
#if ROWS * COLUMNS > 4
layout(location = 4) out vec4 C4;
layout(location = 5) out vec4 C5;
layout(location = 6) out vec4 C6;
layout(location = 7) out vec4 C7;
#define PUT_8(sum) C4 = sum[4]; C5 = sum[5]; C6 = sum[6]; C7 = sum[7];
#else
#define PUT_8(sum)
#endif
#if ROWS * COLUMNS > 8
#error ROWS * COLUMNS must not exceed 8 render targets
#endif

#define PUT(sum) C0 = sum[0]; PUT_2(sum) PUT_4(sum) PUT_8(sum)
