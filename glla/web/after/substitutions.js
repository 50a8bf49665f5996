"use strict";
// Substitutions by factors that are given: once more on the host where numbers are near float32's limits. See
// glla/operations/systems/lu_solve.py, lu_scaling.py and definite/definite.py. Needs after/acceptance.js,
// Needs after/fallback.js and Needs after/rounded_rows.js.

const isNear = (size) => !Number.isFinite(size) || sizeNearOne(Math.abs(size));

// An error for a pivot of a factor that counts as zero, the fallback for sizes that are far from 1, or done.
function substitutedWith(factor, diagonal, least, sizes) {
  const place = diagonal.findIndex((one) => Math.abs(one) <= least);
  if (place >= 0) return { error: `SingularMatrixError: ${factor} is zero at place ${place} of its diagonal` };
  const size = sizes.find((one) => !isNear(one));
  return size === undefined ? { done: {} } : { go: "fallback", because: `a size in ${factor} or B, ${short(size)}, is beyond 2^-40 to 2^40` };
}

SETTLE.lu_solve = (stage, v) => {
  if (stage !== "") return { done: {} };
  const { u, most } = ofDiagonal(v.at("diagonal"), v.matrix("LU").n);
  return substitutedWith("U", u, 0, [...u, ...most, v.number("largest_B")]);
};

HOSTS["substitute in float64"] = ([lu, b, records]) => {
  const order = Array.from({ length: lu.n }, (_, i) => i);
  for (let i = 0; i < lu.n; i++) {
    const other = records.at[4 * (i >> 1) + (i & 1)];
    [order[i], order[other]] = [order[other], order[i]];
  }
  const y = made(b.m, b.n, (i, j) => b.at[order[i] * b.n + j]);
  for (let i = 0; i < lu.n; i++) {
    for (let k = 0; k < i; k++) {
      for (let j = 0; j < y.n; j++) y.at[i * y.n + j] -= lu.at[i * lu.n + k] * y.at[k * y.n + j];
    }
  }
  return [rounded(inRoundedRows(lu, y))];
};

SETTLE.cho_solve = SETTLE.cho_solve_banded = (stage, v) => {
  const diagonal = Array.from(v.at("diagonal"));
  const denormal = THRESHOLDS.NORMAL * (1 - 2 ** -24);
  const found = substitutedWith("the factor", diagonal, denormal, stage === "" ? [...diagonal, v.number("largest_B")] : []);
  if (stage !== "" || !found.done || Number.isFinite(v.number("largest_X"))) return found;
  return { go: "fallback", because: "the solution is not finite" };
};

// A factor by rows of L, line(k, j) is the row to which an element of its array belongs, or -1.
function scaledFactor(c, b, line) {
  const rows = new Float64Array(c.n);
  c.at.forEach((one, k) => {
    const own = line(Math.floor(k / c.n), k % c.n);
    if (own >= 0) rows[own] = Math.max(rows[own], Math.abs(one));
  });
  if (rows.every(isNear) && columnLargest(magnitudes(b)).every(isNear)) {
    return [c, b, column(new Float64Array(c.n)), column(new Float64Array(b.n))];
  }
  const e = Array.from(rows, exponentOf);
  const { sides, sizes } = scaledSides(b, e);
  const scaled = made(c.m, c.n, (k, j) => (line(k, j) >= 0 ? shifted(c.at[k * c.n + j], -e[line(k, j)]) : 0));
  return [rounded(scaled), rounded(sides), column(e), column(sizes)];
}

// A square factor is L, a band holds the diagonals of U = L^T on and above the main one.
HOSTS["scale rows and columns by powers of two, where need be"] = ([c, b]) =>
  scaledFactor(c, b, c.m === c.n ? (i, j) => (j <= i ? i : -1) : (k, j) => (j >= c.m - 1 - k ? j : -1));

HOSTS["scale X back"] = ([x, sizes, e]) => [rounded(made(x.m, x.n, (i, j) => shifted(x.at[i * x.n + j], sizes.at[j] - e.at[i])))];
