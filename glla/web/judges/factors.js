"use strict";
// P A Q = L U, by its residual: Higham 2002, section 9.3.

// The order of lines that exchanges one after the other lead to.
function exchanged(exchanges, count) {
  const order = Array.from({ length: count }, (_, i) => i);
  exchanges.forEach((place, i) => ([order[i], order[place]] = [order[place], order[i]]));
  return order;
}

function factors(a, lu, rows, columns) {
  const k = Math.min(a.m, a.n);
  const l = made(a.m, k, (i, j) => (i === j ? 1 : j < i ? lu.at[i * a.n + j] : 0));
  const u = made(k, a.n, (i, j) => (j >= i ? lu.at[i * a.n + j] : 0));
  const orders = [exchanged(rows, a.m), exchanged(columns ?? [], a.n)];
  if (rows.some((place) => !(place >= 0 && place < a.m))) return { flaw: "the exchanges of rows are none" };
  const moved = made(a.m, a.n, (i, j) => a.at[orders[0][i] * a.n + orders[1][j]]);
  const error = norm(minus(times(l, u), moved));
  return normalised(error, Math.max(a.m, a.n) * norm(a) * ROUNDOFF, "||P L U - A|| over max(m, n) ||A|| u");
}

JUDGES.plu = JUDGES.lu_factor = ({ A }, { LU, pivots, piv, columns }) => {
  const k = Math.min(A.m, A.n);
  return factors(A, LU, piv ? Array.from(piv.at) : firstTwo(pivots.values, k), columns && firstTwo(columns.values, k));
};
