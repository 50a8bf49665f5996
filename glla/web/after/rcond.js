"use strict";
// The reciprocal condition number by Hager's method: see glla/operations/systems/rcond.py. Needs after/fallback.js and Needs after/scaled_by_one.js.

SETTLE.rcond = (stage, v) => {
  const { n } = v.matrix("A");
  if (["", "fallback", "complete pivoting"].includes(stage)) return climb(stage, v, n);
  const x = v.at("X");
  const size = x.reduce((sum, one) => sum + Math.abs(one), 0);
  if (stage === "step of Hager's method") {
    if (!(size > v.given("estimate"))) return alternating(n, `the estimate did not grow beyond ${short(v.given("estimate"))}`);
    const signs = column(Array.from(x, (one) => (one >= 0 ? 1 : -1)));
    const given = { estimate: size, B: signs, steps: v.given("steps") + 1 };
    return { go: "with the transpose", because: `the estimate of the inverse's norm grew to ${short(size)}`, given };
  }
  if (stage === "with the transpose") {
    const sizes = Array.from(x, Math.abs);
    const steepest = sizes.indexOf(largest(sizes));
    const here = x.reduce((sum, one, i) => sum + one * v.given("corner").at[i], 0);
    if (sizes[steepest] <= here) return alternating(n, "no other corner is higher");
    if (v.given("steps") === THRESHOLDS.MOST_STEPS) return alternating(n, `${THRESHOLDS.MOST_STEPS} steps were made`);
    const corner = column(Array.from(x, (_, i) => Number(i === steepest)));
    return { go: "step of Hager's method", because: `corner ${steepest} is higher`, given: { corner, B: corner } };
  }
  const other = (2 * size) / (3 * n);
  const finite = Number.isFinite(v.given("estimate")) && Number.isFinite(other);
  const inverseNorm = finite ? Math.max(v.given("estimate"), other) : Infinity;
  return estimated(v.given("norm") > 0 ? 1 / (v.given("norm") * inverseNorm) : 0);
};

const estimated = (rcond) => ({ done: { rcond }, words: [`The reciprocal condition number is about ${short(Math.fround(rcond))}.`] });

function climb(stage, v, n) {
  const diag = ofDiagonal(v.at("diagonal"), n);
  let [size, length] = [0, 0];
  if (v.has("scaled A")) {
    const scaled = v.matrix("scaled A");
    [size, length] = [largestEntry(scaled), norm(scaled)];
  } else {
    [size, length] = [v.number("largest_A"), v.number("norm_read")];
    if (size === 0 || !sizeNearOne(size)) return { go: "fallback", because: `the largest entry is ${short(size)}, beyond 2^-40 to 2^40` };
  }
  if (size === 0) return estimated(0);
  const growth = growthOf(diag, size);
  if (stage !== "complete pivoting" && grew(growth, n)) return { go: v.has("scaled A") ? "complete pivoting" : "fallback", because: grewWords(growth, n) };
  if (growth === Infinity || diag.u.includes(0)) return estimated(0);
  const corner = column(new Array(n).fill(1 / n));
  return { go: "step of Hager's method", because: "no pivot is zero", given: { norm: length, corner, B: corner, estimate: 0, steps: 0 } };
}

// What Hager's method may overlook: entries that cancel.
function alternating(n, because) {
  const signs = Array.from({ length: n }, (_, i) => (i % 2 ? -1 : 1) * (1 + i / Math.max(n - 1, 1)));
  return { go: "alternating signs", because, given: { B: column(signs) } };
}
