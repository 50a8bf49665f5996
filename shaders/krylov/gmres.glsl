// The inner products of a vector: w . w, those with PART vectors of the basis, which are in one texture, w . w again, ...

#ifndef STEPS
#define STEPS 1  // steps of a cycle
#endif
#ifndef PART
#define PART 43  // vectors of the basis in one texture
#endif
#define STRIDE (PART / 4 * 4 + 4)  // from one w . w to the next
#define GROUPS (place(STEPS) / 4 + 1)

int place(int k) {
    return k / PART * STRIDE + k % PART + 1;
}
