"use strict";
// Inverses of positive definite matrices: see glla/operations/definite/definite_inverse.py. Needs after/definite.js and
// Needs judges/inverses.js and Needs after/residual.js.

HOSTS["residual in float64"] = ([a, x]) => [column([inverse(symmetric(a), x).error])];

SETTLE.inv_pos = (stage, v) => {
  const [pivots, own] = [v.at("diagonal"), v.at("diagonal of X")];
  if (stage === "" && farDiagonal(pivots)) return { go: "fallback", because: farWords };
  if (stage === "" && !own.every(Number.isFinite)) return { go: "fallback", because: "the inverse is not finite" };
  const flaw = notDefinite(pivots);
  if (flaw) return flaw;
  if (stage === "" && v.has("norm_R")) return residualAgain(v) ?? { done: {} };
  const residual = v.has("residual") ? v.number("residual") : 0;
  if (!(residual <= THRESHOLDS.PROMISED)) return { error: `ConvergenceError: the residual is ${short(residual)}, above ${THRESHOLDS.PROMISED}; potri keeps that bound` };
  if (stage !== "fallback") return { done: {} };
  const d = v.at("column exponents");
  return scaledBack(v.matrix("X"), d.map((one) => -one), d);
};
