"use strict";
// Systems of three and of five bands: see `settle` in glla/operations/bands/banded.py, and glla/operations/host/bands.py.

// Partial pivoting in float64: {x, flaw}, the latter the first pivot that is none, -1 if all stand.
function pivotedBands(ab, b) {
  const { n } = ab;
  const width = ab.m >> 1;
  const dense = (entry) => Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (_one, j) => (Math.abs(i - j) <= width ? entry(ab.at[(width + i - j) * n + j]) : 0)));
  const [a, sizes] = [dense((one) => one), dense(Math.abs)];
  const y = Array.from({ length: n }, (_, i) => Float64Array.from(b.at.subarray(i * b.n, (i + 1) * b.n)));
  const scale = sizes.map((line) => largest(line));
  let flaw = -1;
  for (let k = 0; k < n; k++) {
    const end = Math.min(n, k + width + 1);
    let p = k;
    for (let i = k; i < end; i++) if (Math.abs(a[i][k]) > Math.abs(a[p][k])) p = i;
    for (const part of [a, sizes, y]) [part[k], part[p]] = [part[p], part[k]];
    if (flaw < 0 && !(Math.abs(a[k][k]) > THRESHOLDS.BANDS.NOISE * sizes[k][k])) flaw = k;
    for (let i = k + 1; i < end; i++) {
      const factor = a[i][k] / a[k][k];
      for (let j = k; j < Math.min(n, k + 2 * width + 1); j++) {
        a[i][j] -= factor * a[k][j];
        sizes[i][j] += Math.abs(factor) * sizes[k][j];
      }
      for (let j = 0; j < b.n; j++) y[i][j] -= factor * y[k][j];
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let j = 0; j < b.n; j++) {
      for (let l = k + 1; l < Math.min(n, k + 2 * width + 1); l++) y[k][j] -= a[k][l] * y[l][j];
      y[k][j] /= a[k][k];
    }
  }
  const x = made(n, b.n, (i, j) => y[i][j]);
  const given = largest(b.at.map((one, k) => Math.abs(one) / (scale[Math.floor(k / b.n)] || 1)));
  return { x, flaw: flaw < 0 && largestEntry(x) > THRESHOLDS.BANDS.SINGULAR_RATIO * given ? n - 1 : flaw };
}

HOSTS["partial pivoting in float64"] = ([ab, b]) => {
  const { x, flaw } = pivotedBands(ab, b);
  return [rounded(x), column([flaw])];
};

// Why a system is rejected, by its numbers; "" if none is.
function rejectedBands(diag, n) {
  const { MOST_ERROR, LEAST_LEFT, DOMINANT, LARGEST_RATIO, NORMAL } = THRESHOLDS.BANDS;
  const least = Math.min(LEAST_LEFT[1], Math.max(LEAST_LEFT[0], 8 * n * n * ROUNDOFF));
  for (let k = 0; k < diag.length; k += 4) {
    const [error, left, rhs, x] = diag.subarray(k, k + 4);
    if (!(error <= MOST_ERROR)) return `the backward error is ${short(error)}, above ${short(MOST_ERROR)}`;
    if (!(left >= least)) return `a pivot keeps ${short(left)} of the terms that it is the sum of, less than ${short(least)}`;
    if (!(rhs === 0 || (rhs >= NORMAL[0] && rhs <= NORMAL[1]))) return "right-hand sides are near float32's limits";
    if (!(left > DOMINANT || x <= LARGEST_RATIO * rhs)) return `the solution is ${short(x / rhs)} times the right-hand side`;
  }
  return "";
}

SETTLE.tridiagonal = SETTLE.pentadiagonal = (stage, v) => {
  if (stage === "partial pivoting in float64") {
    const flaw = v.number("flaw");
    return flaw < 0 ? { done: {} } : { error: `SingularMatrixError: pivot ${flaw} is zero, or nothing but rounding error` };
  }
  const because = rejectedBands(v.at("diagnostics"), v.matrix("A").n);
  if (because) return { go: stage === "refine" ? "partial pivoting in float64" : "refine", because };
  const diag = v.at("diagnostics");
  const error = largest(diag.filter((_, k) => k % 4 === 0));
  return { done: {}, words: [`The backward error is ${short(error)}, up to ${short(THRESHOLDS.BANDS.MOST_ERROR)} is good, and no pivot is rejected.`] };
};
