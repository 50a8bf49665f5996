"use strict";
// A product, entry by entry: Higham 2002, section 3.5. Needs judges/worst.js.

function product(c, a, b) {
  const factor = Math.max(a.n, 4 * Math.sqrt(a.n)) * ROUNDOFF;
  const bounds = times(magnitudes(a), magnitudes(b)).at.map((one) => factor * one + 2 * a.n * 2 ** -126);
  return worst(magnitudes(minus(c, times(a, b))).at, bounds, "|C - A B|, over K u |A||B|, of the worst entry");
}

// A A^T, symmetric bit by bit.
JUDGES.syrk = ({ A }, { C }) => {
  const other = transposed(C);
  if (C.at.some((one, k) => one !== other.at[k])) return { flaw: "C is not symmetric" };
  return product(C, A, transposed(A));
};
JUDGES.matmul = ({ A, B }, { C }) => product(C, A, B);
