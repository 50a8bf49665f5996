"use strict";
// Tridiagonal systems, componentwise: Oettli and Prager 1964. Column j of A holds A[j-1, j], A[j, j], A[j+1, j].

JUDGES.tridiagonal = ({ A, B }, { X }) => {
  const n = A.n;
  const band = made(n, n, (i, j) => (Math.abs(i - j) <= 1 ? A.at[(1 + i - j) * n + j] : 0));
  const error = magnitudes(minus(B, times(band, X)));
  const size = times(magnitudes(band), magnitudes(X));
  const errors = Array.from(error.at, (one, k) => quotient(one, (size.at[k] + Math.abs(B.at[k])) * ROUNDOFF));
  return { error: largest(errors), bound: RESIDUAL_LIMIT, what: "|b - A x| over (|A||x| + |b|) u, of the worst entry" };
};
