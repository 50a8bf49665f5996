"use strict";
// Solutions by triangular factors that are given: Higham 2002, section 8.1.

const lower = (a) => made(a.m, a.n, (i, j) => (j <= i ? a.at[i * a.n + j] : 0));

// By |L||U| instead of A: where the factors are given, they may be larger than their product.
function substituted(lowerFactor, upperFactor, x, b) {
  const differences = columnSums(minus(b, times(lowerFactor, times(upperFactor, x))));
  const size = norm(times(magnitudes(lowerFactor), magnitudes(upperFactor)));
  const sizes = columnSums(x);
  const sides = columnSums(b);
  const errors = differences.map((one, j) => quotient(one, (size * sizes[j] + sides[j]) * b.m * ROUNDOFF));
  return normalised(largest(errors), 1, "||b - L U x|| over (|| |L||U| || ||x|| + ||b||) n u");
}

JUDGES.cho_solve = ({ C, B }, { X }) => substituted(lower(C), transposed(lower(C)), X, B);
JUDGES.lu_solve = ({ LU, B }, { X }) => {
  const l = made(LU.m, LU.n, (i, j) => (i === j ? 1 : j < i ? LU.at[i * LU.n + j] : 0));
  return substituted(l, upper(LU), X, B);
};
