"use strict";
// Solutions of systems, by their residuals: Higham 2002, section 7.1.

function solution(a, x, b) {
  const differences = columnSums(minus(b, times(a, x)));
  const sizes = columnSums(x);
  const sides = columnSums(b);
  const scale = Math.max(a.m, a.n) * ROUNDOFF;
  const errors = differences.map((one, j) => quotient(one, (norm(a) * sizes[j] + sides[j]) * scale));
  return { error: largest(errors), bound: RESIDUAL_LIMIT, what: "||b - A x|| over (||A|| ||x|| + ||b||) n u" };
}

JUDGES.solve = ({ A, B }, { X }) => solution(A, X, B);
JUDGES.solve_pos = ({ A, B }, { X }) => solution(symmetric(A), X, B);
JUDGES.triangular = ({ T, B }, { X }) => solution(T, X, B);
JUDGES.solve_triangular = ({ T, B }, { X }) => solution(upper(T), X, B);
