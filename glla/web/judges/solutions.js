"use strict";
// Solutions of systems, by their residuals: Higham 2002, section 7.1.

function solution(a, x, b) {
  const left = minus(b, times(a, x));
  const scale = Math.max(a.m, a.n) * ROUNDOFF;
  const errors = [[columnSums, norm(a)], [columnLargest, norm(transposed(a))]].flatMap(([sizes, whole]) => {
    const [differences, own, sides] = [left, x, b].map(sizes);
    return differences.map((one, j) => quotient(one, (whole * own[j] + sides[j]) * scale));
  });
  return normalised(largest(errors), 1, "||b - A x|| over (||A|| ||x|| + ||b||) n u, in the 1-norm and the infinity-norm");
}

JUDGES.solve = ({ A, B }, { X }) => solution(A, X, B);
JUDGES.solve_pos = ({ A, B }, { X }) => solution(symmetric(A), X, B);
JUDGES.triangular = ({ T, B }, { X }) => solution(T, X, B);
JUDGES.solve_triangular = ({ T, B }, { X }) => solution(upper(T), X, B);
