"use strict";
// Positive definite bands, as LAPACK stores those on and above the diagonal: see
// glla/operations/bands/definite_band.py. Needs after/definite.js.

// Scales rows and columns by 2^-d, so that the diagonal is near 1.
function equilibratedBand(ab) {
  const width = ab.m - 1;
  const d = exponentsOf(ab.at.slice(width * ab.n));
  const entry = (k, j) => (j >= width - k ? shifted(ab.at[k * ab.n + j], -d[j] - d[j - (width - k)]) : 0);
  return [rounded(made(ab.m, ab.n, entry)), column(d)];
}

HOSTS["scale rows and columns by powers of two"] = ([ab, b]) => {
  const [scaled, rows] = equilibratedBand(ab);
  if (!b) return [scaled, rows];
  const { sides, sizes } = scaledSides(b, rows.at);
  return [scaled, rounded(sides), rows, column(sizes)];
};

SETTLE.cholesky_banded = (stage, v) => {
  const diagonal = v.at("diagonal");
  if (stage === "" && farDiagonal(diagonal)) return { go: "fallback", because: farWords };
  const flaw = notDefinite(diagonal);
  if (flaw || stage === "") return flaw ?? { done: {} };
  const d = v.at("exponents");
  const l = v.matrix("L");
  const width = l.m - 1;
  return { done: { L: rounded(made(l.m, l.n, (k, j) => (j >= width - k ? shifted(l.at[k * l.n + j], d[j]) : 0))) } };
};

SETTLE.solve_pos_banded = settlePositive;
