"use strict";
// Least squares, by the normal equations.

function normalEquations(a, x, b) {
  const left = columnSums(times(transposed(a), minus(b, times(a, x))));
  const [sizes, sides] = [columnSums(x), columnSums(b)];
  const scale = norm(transposed(a)) * Math.min(a.m, a.n) * ROUNDOFF;
  const errors = left.map((one, j) => quotient(one, scale * (norm(a) * sizes[j] + sides[j])));
  return normalised(largest(errors), 1, "||A^T (b - A x)|| over ||A^T|| (||A|| ||x|| + ||b||) min(m, n) u");
}

JUDGES.lstsq = ({ A, B }, { X }) => normalEquations(A, X, B);
