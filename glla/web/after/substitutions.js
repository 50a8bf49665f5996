"use strict";
// Substitutions by factors that are given, and inverses of order 3: nothing but an error can come after them. See
// glla/operations/systems/lu_solve.py, definite/definite.py and systems/inv3.py. Needs after/acceptance.js.

const zeroAt = (diagonal, words) => {
  const place = diagonal.indexOf(0);
  return place < 0 ? { done: {} } : { error: `SingularMatrixError: ${words} is zero at place ${place} of its diagonal` };
};

SETTLE.lu_solve = (stage, v) => zeroAt(firstTwo(v.at("diagonal"), v.matrix("LU").n), "U");
SETTLE.cho_solve = SETTLE.cho_solve_banded = (stage, v) => zeroAt(Array.from(v.at("diagonal")), "the factor");

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
