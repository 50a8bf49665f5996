"use strict";
// A product, entry by entry: Higham 2002, section 3.5.

function product(c, a, b) {
  const error = minus(c, times(a, b));
  const size = times(magnitudes(a), magnitudes(b));
  const factor = Math.max(a.n, 4 * Math.sqrt(a.n)) * ROUNDOFF;
  const bounds = size.at.map((one) => factor * one + 2 * a.n * 2 ** -126);
  const ratios = error.at.map((one, k) => quotient(Math.abs(one), bounds[k]));
  const worst = ratios.indexOf(largest(ratios));
  return { error: Math.abs(error.at[worst] ?? 0), bound: bounds[worst] ?? 0, what: "|C - A B|, over K u |A||B|, of the worst entry" };
}


// A A^T, symmetric bit by bit.
JUDGES.syrk = ({ A }, { C }) => {
  const other = transposed(C);
  if (C.at.some((one, k) => one !== other.at[k])) return { flaw: "C is not symmetric" };
  return product(C, A, transposed(A));
};
JUDGES.matmul = ({ A, B }, { C }) => product(C, A, B);
