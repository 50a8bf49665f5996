// The order that sorts numbers: NaN is last, whichever way round, and equal ones have no order.

#include "lib/ieee.glsl"

#ifndef DESCENDING
#define DESCENDING 0  // the smallest first (0), or the largest (1)
#endif

bool before(float a, float b) {
    if (is_nan(a)) return false;
    return is_nan(b) || (DESCENDING == 1 ? a > b : a < b);
}

bool before(int a, int b) {
    return DESCENDING == 1 ? a > b : a < b;
}
