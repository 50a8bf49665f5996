"use strict";
// The residual of an inverse by three norms that were read: see glla/operations/product/residual.py.

// n norm(A) norm(X) u: above 1, an inverse may come of noise in place of a pivot.
const sizeOfResidual = (v) => v.matrix("A").n * v.number("norm_A") * v.number("norm_X") * ROUNDOFF;

// The residual is taken once more, in float64 on the host; null where there is no need to.
function residualAgain(v) {
  const ratio = v.number("norm_R") / sizeOfResidual(v);
  const stands = THRESHOLDS.PROMISED - 2;  // up to here the residual in float32 settles it
  if (ratio <= stands) return null;
  return { go: "residual in float64", because: `the residual in float32 is ${short(ratio)}, above ${stands}` };
}
