// A tournament of n players, n even: the pairs of a step are the places (0, 1), (2, 3), ... After n - 1 steps each pair
// has met once and all are back. Brent and Luk, "The solution of singular-value and symmetric eigenvalue problems on
// multiprocessor arrays" (1985).
//
//     0  2  4  6      place 0 stays, the upper row moves to the right, the lower one to the left
//     1  3  5  7

// Place from which the player comes who is at place p after a step.
int source(int p, int n) {
    if (n == 2 || p == 0) return p;
    if (p == n - 1) return n - 2;
    if (p == 2) return 1;
    return (p & 1) == 0 ? p - 2 : p + 2;
}
