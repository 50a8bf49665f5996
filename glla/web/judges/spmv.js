"use strict";
// A product with a sparse matrix, whose five diagonals are the rows of A: those of a square grid, each where it lies.
// Needs judges/worst.js.

function fivePoints(a, x) {
  const n = x.m;
  const side = Math.round(Math.sqrt(n));
  return made(n, 1, (k) => {
    const [row, column] = [Math.floor(k / side), k % side];
    const beside = [[0, row > 0, -side], [1, column > 0, -1], [2, true, 0], [3, column < side - 1, 1], [4, row < side - 1, side]];
    return beside.reduce((sum, [line, there, step]) => sum + (there ? a.at[line * n + k] * x.at[k + step] : 0), 0);
  });
}

JUDGES.spmv = ({ A, x }, { y }) => {
  const bounds = fivePoints(magnitudes(A), magnitudes(x)).at.map((one) => 7 * ROUNDOFF * one + 2 ** -120);
  return worst(magnitudes(minus(y, fivePoints(A, x))).at, bounds, "|y - A x|, over 7 u |A||x|, of the worst entry");
};
