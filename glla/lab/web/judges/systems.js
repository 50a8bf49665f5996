"use strict";
// Solutions and inverses, by their residuals: Higham 2002, section 7.1. Needs judges/elimination.js.

function solution(a, x, b) {
  const differences = columnSums(minus(b, times(a, x)));
  const sizes = columnSums(x);
  const sides = columnSums(b);
  const scale = Math.max(a.m, a.n) * ROUNDOFF;
  const errors = differences.map((one, j) => quotient(one, (norm(a) * sizes[j] + sides[j]) * scale));
  return { error: largest(errors), bound: RESIDUAL_LIMIT, what: "||b - A x|| over (||A|| ||x|| + ||b||) n u" };
}

// By |L||U| instead of A: where the factors are given, they may be larger than their product.
function substituted(lowerFactor, upperFactor, x, b) {
  const differences = columnSums(minus(b, times(lowerFactor, times(upperFactor, x))));
  const size = norm(times(magnitudes(lowerFactor), magnitudes(upperFactor)));
  const sizes = columnSums(x);
  const sides = columnSums(b);
  const errors = differences.map((one, j) => quotient(one, (size * sizes[j] + sides[j]) * b.m * ROUNDOFF));
  return { error: largest(errors), bound: RESIDUAL_LIMIT, what: "||b - L U x|| over (|| |L||U| || ||x|| + ||b||) n u" };
}

function inverse(a, x) {
  const error = norm(minus(unit(a.m), times(a, x)));
  return {
    error: quotient(error, a.m * norm(a) * norm(x) * ROUNDOFF),
    bound: RESIDUAL_LIMIT,
    what: "||I - A X|| over n ||A|| ||X|| u",
  };
}

JUDGES.solve = ({ A, B }, { X }) => solution(A, X, B);
JUDGES.solve_pos = ({ A, B }, { X }) => solution(symmetric(A), X, B);
JUDGES.triangular = ({ T, B }, { X }) => solution(T, X, B);
JUDGES.solve_triangular = ({ T, B }, { X }) => solution(upper(T), X, B);
JUDGES.triangular_inverse = ({ T }, { X }) => inverse(upper(T), X);
JUDGES.inv = ({ A }, { X }) => inverse(A, X);
JUDGES.gauss_jordan = JUDGES.inv;

// Matrices of order 3 as rows of nine numbers: the worst of them.
JUDGES.inv3 = ({ A }, { X }) => {
  const member = ({ at }, k) => ({ m: 3, n: 3, at: at.slice(9 * k, 9 * k + 9) });
  const found = Array.from({ length: A.m }, (_, k) => inverse(member(A, k), member(X, k)));
  return found.reduce((worst, one) => (one.error <= worst.error ? worst : one));
};
JUDGES.inv_pos = ({ A }, { X }) => inverse(symmetric(A), X);
JUDGES.cho_solve = ({ C, B }, { X }) => substituted(lower(C), transposed(lower(C)), X, B);
JUDGES.lu_solve = ({ LU, B }, { X }) => {
  const l = made(LU.m, LU.n, (i, j) => (i === j ? 1 : j < i ? LU.at[i * LU.n + j] : 0));
  return substituted(l, upper(LU), X, B);
};
