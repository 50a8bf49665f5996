"use strict";
// A = Q R, Q with orthonormal columns: Higham 2002, section 19.3.

JUDGES.qr = ({ A }, { Q, R }) => {
  if (R.at.some((one, k) => k % R.n < Math.floor(k / R.n) && one !== 0)) return { flaw: "R has entries below the diagonal" };
  const residual = quotient(norm(minus(times(Q, R), A)), A.m * (norm(A) * ROUNDOFF + 2 ** -149));
  const slant = norm(minus(times(transposed(Q), Q), unit(Q.n))) / (A.m * ROUNDOFF);
  const what = "the larger of ||A - Q R|| over m ||A|| u, and ||Q^T Q - I|| over m u";
  return { error: Math.max(residual, slant), bound: RESIDUAL_LIMIT, what };
};
