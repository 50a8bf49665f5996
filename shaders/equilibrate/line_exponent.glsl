// The exponent that a row or column is scaled by: the largest of its entries' (MEAN 0), or their mean, rounded (MEAN 1).
//
// Zeros, infinities and NaN do not count. A mean does not change if the columns (rows) were scaled before;
// the largest entry may: which one is the largest depends on that scaling.

#ifndef MEAN
#define MEAN 0  // which exponent of a line it is scaled by: the largest (0), the mean (1)
#endif

const int BIAS = 4096;  // makes dividends positive

// The largest exponent or the sum of all, and how many there are.
struct Line {
    int total;
    int count;
};

const Line NO_LINE = Line(MEAN == 1 ? 0 : NO_EXPONENT, 0);

// Take in the entry a, whose column (row) is scaled by 2^-f.
void take(inout Line line, float a, float f) {
    int own = exponent_of(a);
    if (own == NO_EXPONENT) return;
    own -= int(f);
#if MEAN
    line.total += own;
#else
    line.total = line.count == 0 ? own : max(line.total, own);
#endif
    ++line.count;
}

// 0 for a line of zeros.
int line_exponent(Line line) {
    if (line.count == 0) return 0;
#if MEAN
    return (2 * (line.total + BIAS * line.count) + line.count) / (2 * line.count) - BIAS;
#else
    return line.total;
#endif
}
