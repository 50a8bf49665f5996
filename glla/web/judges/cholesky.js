"use strict";
// A = L L^T, of which the lower half is given: Higham 2002, section 10.1.

function cholesky(a, l) {
  const whole = symmetric(a);
  if (l.at.some((one, k) => k % l.n > Math.floor(k / l.n) && one !== 0)) return { flaw: "L has entries above the diagonal" };
  for (let i = 0; i < l.m; i++) if (!(l.at[i * l.n + i] > 0)) return { flaw: "the diagonal of L is not above zero" };
  const error = norm(minus(times(l, transposed(l)), whole));
  return { error, bound: THRESHOLDS.RESIDUAL_LIMIT * a.m * ROUNDOFF * norm(whole), what: "||L L^T - A||, over 30 n ||A|| u" };
}

JUDGES.cholesky = JUDGES.cho_factor = ({ A }, { L }) => cholesky(A, L);
