"use strict";
// A = Q R, Q with orthonormal columns: Higham 2002, section 19.3.

JUDGES.qr = ({ A }, { Q, R }) => {
  if (R.at.some((one, k) => k % R.n < Math.floor(k / R.n) && one !== 0)) return { flaw: "R has entries below the diagonal" };
  const residual = quotient(norm(minus(times(Q, R), A)), Q.n * (norm(A) * ROUNDOFF + 2 ** -149));
  const slant = norm(minus(times(transposed(Q), Q), unit(Q.n))) / (Q.n * ROUNDOFF);
  const what = "the larger of ||A - Q R|| over k ||A|| u, and ||Q^T Q - I|| over k u, k columns of Q";
  return { error: Math.max(residual, slant), bound: THRESHOLDS.RESIDUAL_LIMIT, what };
};
