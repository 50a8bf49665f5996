// REPEAT_n(STEP, i) writes STEP(i) STEP(i + 1) ... n times: a loop unrolled in the text, so that every index is a
// constant. A uniform block is then read as the operand of the multiplication itself, without an instruction of its own.

#define REPEAT_1(STEP, i) STEP((i))
#define REPEAT_2(STEP, i) REPEAT_1(STEP, i) REPEAT_1(STEP, i + 1)
#define REPEAT_4(STEP, i) REPEAT_2(STEP, i) REPEAT_2(STEP, i + 2)
#define REPEAT_8(STEP, i) REPEAT_4(STEP, i) REPEAT_4(STEP, i + 4)
#define REPEAT_16(STEP, i) REPEAT_8(STEP, i) REPEAT_8(STEP, i + 8)
#define REPEAT_32(STEP, i) REPEAT_16(STEP, i) REPEAT_16(STEP, i + 16)
