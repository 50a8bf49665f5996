"use strict";
// Positive definite matrices: see `settle` in glla/operations/definite/cholesky.py, and in the files beside it.
// Needs after/fallback.js.

const farDiagonal = (diagonal) => diagonal.some((one) => one === 0 || (Number.isFinite(one) && !sizeNearOne(Math.abs(one))));
const farWords = "entries of the diagonal of L are zero, or beyond 2^-40 to 2^40";

// What a call raises for a diagonal of L that is not above zero.
function notDefinite(diagonal) {
  const place = diagonal.findIndex((one) => !(one > 0));
  if (place < 0) return null;
  return { error: `NotPositiveDefiniteError: the leading minor of order ${place + 1} is not positive, as pivot ${place} is ${short(diagonal[place])}` };
}

// Powers of two d that bring the diagonal of a_ij 2^-(d_i + d_j) near 1.
const exponentsOf = (diagonal) => Array.from(diagonal, (one) => (Number.isFinite(one) && one !== 0 ? Math.floor((exponentOf(one) - 1) / 2) : 0));

function equilibrated(a) {
  const d = exponentsOf(Array.from({ length: a.n }, (_, i) => a.at[i * a.n + i]));
  return [rounded(made(a.n, a.n, (i, j) => shifted(a.at[i * a.n + j], -d[i] - d[j]))), column(d)];
}

HOSTS["scale rows and columns by powers of two"] = ([a]) => equilibrated(a);

HOSTS["scale rows and columns by powers of two, where need be"] = ([a, b]) => {
  const [scaled, rows] = equilibrated(a);
  const { sides, sizes } = scaledSides(b, rows.at);
  return [scaled, rounded(sides), rows, column(sizes)];
};

SETTLE.cholesky = SETTLE.cho_factor = (stage, v) => {
  const diagonal = v.at("diagonal");
  if (stage === "" && farDiagonal(diagonal)) return { go: "fallback", because: farWords };
  const flaw = notDefinite(diagonal);
  if (flaw || stage === "") return flaw ?? { done: {} };
  const d = v.at("exponents");
  const l = v.matrix("L");
  return { done: { L: rounded(made(l.m, l.n, (i, j) => shifted(l.at[i * l.n + j], d[i]))) } };
};

function settlePositive(stage, v) {
  const diagonal = v.at("diagonal");
  if (stage === "" && farDiagonal(diagonal)) return { go: "fallback", because: farWords };
  if (stage === "" && !sizeNearOne(v.number("largest_B"))) return { go: "fallback", because: "right-hand sides are beyond 2^-40 to 2^40" };
  const flaw = notDefinite(diagonal);
  if (flaw || stage === "") return flaw ?? { done: {} };
  return scaledBack(v.matrix("X"), v.at("sizes"), v.at("column exponents"));
}

SETTLE.solve_pos = settlePositive;
