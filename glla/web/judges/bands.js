"use strict";
// Systems of bands, componentwise: Oettli and Prager 1964. Column j of A holds the entries of column j of the matrix,
// as many above the diagonal as below it, the uppermost first.

function ofBands(a) {
  const width = a.m >> 1;
  return made(a.n, a.n, (i, j) => (Math.abs(i - j) <= width ? a.at[(width + i - j) * a.n + j] : 0));
}

JUDGES.tridiagonal = JUDGES.pentadiagonal = ({ A, B }, { X }) => {
  const band = ofBands(A);
  const error = magnitudes(minus(B, times(band, X)));
  const size = times(magnitudes(band), magnitudes(X));
  const errors = Array.from(error.at, (one, k) => quotient(one, (size.at[k] + Math.abs(B.at[k])) * ROUNDOFF));
  const bound = Math.max(THRESHOLDS.RESIDUAL_LIMIT, 8 * Math.log2(A.n + 1));
  return { error: largest(errors), bound, what: "|b - A x| over (|A||x| + |b|) u, of the worst entry" };
};
