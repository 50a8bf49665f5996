"use strict";
// Gauss-Jordan without a choice of pivots: its residual tells. See glla/operations/systems/gauss_jordan.py. Needs after/fallback.js,
// Needs judges/inverses.js, Needs after/residual.js and Needs after/singular.js.

// A column that depends on those before, as the singular values of the scaled matrix tell; -1 if there is none.
function dependentColumn(a) {
  const { rows, columns } = scaling(a);
  const { s, v } = singular(made(a.m, a.n, (i, j) => shifted(a.at[i * a.n + j], -rows[i] - columns[j])));
  if (s.at(-1) > a.n * THRESHOLDS.EXACTLY * s[0]) return -1;
  const weights = Array.from(v.at(-1), Math.abs);
  return weights.findLastIndex((one) => one > 1e-6 * largest(weights));
}

// Column whose pivot is smallest beside the largest entry that might have been taken; that share; is it all gone.
function worstPivot(a) {
  const { n } = a;
  const left = Array.from({ length: n }, (_, i) => Float64Array.from(a.at.subarray(i * n, (i + 1) * n)));
  let worst = [0, Infinity, 0];
  for (let k = 0; k < n; k++) {
    const entries = left.slice(k).map((line) => Math.abs(line[k]));
    if (!(largest(entries) > n * ROUNDOFF * largest(down(a, k).map(Math.abs)))) return [k, 0, 1];
    const p = k + entries.findIndex((one) => one !== 0);
    [left[k], left[p]] = [left[p], left[k]];
    const share = Math.abs(left[k][k]) / largest(entries);
    if (share < worst[1]) worst = [k, share, 0];
    for (let i = k + 1; i < n; i++) {
      const factor = left[i][k] / left[k][k];
      for (let j = 0; j < n; j++) left[i][j] -= factor * left[k][j];
    }
  }
  return worst;
}

HOSTS["residual in float64"] = ([a, x]) => {
  const ratio = inverse(a, x).error;
  if (a.n * norm(a) * norm(x) * ROUNDOFF > 1) {
    const place = dependentColumn(a);
    if (place >= 0) return [column([Infinity, place, 0, 1])];
  }
  return [column([ratio, ...(ratio <= THRESHOLDS.PROMISED ? [0, 0, 0] : worstPivot(a))])];
};

SETTLE.gauss_jordan = (stage, v) => {
  if (stage === "") {
    const size = sizeOfResidual(v);
    const because = `n norm(A) norm(X) u is ${short(size)}, so that the inverse may come of noise in place of a pivot`;
    return residualAgain(v) ?? (size <= 1 ? { done: {} } : { go: "residual in float64", because });
  }
  const [ratio, place, share, gone] = v.at("residual");
  if (ratio <= THRESHOLDS.PROMISED) return { done: {} };
  if (gone) return { error: `SingularMatrixError: column ${place} depends on those before it` };
  return { error: `ConvergenceError: the residual is ${short(ratio)}, above ${THRESHOLDS.PROMISED}: in column ${place} a pivot of ${short(share)} times the largest entry was taken` };
};
