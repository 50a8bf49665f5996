"use strict";
// Inverses of order 3: nothing but an error can come after them. See glla/operations/systems/inv3.py.

// By determinant and permanent, or by U's diagonal and the largest entries of its columns.
SETTLE.inv3 = (stage, v) => {
  const { m } = v.matrix("A");
  const diag = v.at("diagnostics");
  const lines = diag.length >= 6 * m ? 6 : 3;
  const small = (k) => {
    const own = diag.subarray(lines * k, lines * (k + 1));
    if (lines === 3) return Math.abs(own[0]) <= 6 * ROUNDOFF * own[1];
    return [0, 1, 2].some((i) => Math.abs(own[i]) <= ROUNDOFF * own[i + 3]);
  };
  const place = Array.from({ length: m }, (_, k) => k).find(small);
  return place === undefined ? { done: {} } : { error: `SingularMatrixError: matrix ${place} has a determinant no larger than its rounding error` };
};
