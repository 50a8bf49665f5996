"use strict";
// Inverses of matrices of order 3, which are rows of nine numbers: the worst of them. Needs judges/inverses.js.

JUDGES.inv3 = ({ A }, { X }) => {
  const member = ({ at }, k) => ({ m: 3, n: 3, at: at.slice(9 * k, 9 * k + 9) });
  const found = Array.from({ length: A.m }, (_, k) => inverse(member(A, k), member(X, k)));
  return found.reduce((worst, one) => (one.error <= worst.error ? worst : one));
};
