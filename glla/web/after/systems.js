"use strict";
// Systems and inverses: the ladder of glla/operations/elimination/fallback.py. Needs after/fallback.js and Needs judges/solutions.js.

HOSTS["scale the residual by powers of two"] = ([residual, rows]) => {
  const exponents = residual.at.map((one, k) => exponentOf(one) - rows.at[Math.floor(k / residual.n)]);
  const sizes = Array.from({ length: residual.n }, (_, j) => down(residual, j).reduce(
    (most, one, i) => (one !== 0 ? Math.max(most, exponents[i * residual.n + j]) : most), -10000));
  const scaled = made(residual.m, residual.n, (i, j) => shifted(residual.at[i * residual.n + j], -rows.at[i] - sizes[j]));
  return [rounded(scaled), column(sizes)];
};

HOSTS["residual in float64"] = ([a, b, x, correction, sizes, columns]) => {
  const corrected = made(x.m, x.n, (i, j) => x.at[i * x.n + j] + shifted(correction.at[i * x.n + j], sizes.at[j] - columns.at[i]));
  return [corrected, minus(b, times(a, corrected))];
};

SETTLE.solve = SETTLE.inv = (stage, v) => {
  if (stage === "") return usual(v);
  const diag = ofDiagonal(v.at("diagonal"), v.matrix("A").n);
  const known = { grew: v.given("grew"), last: v.given("last"), least: v.given("least") };
  if (stage === "probe") return probed(v, diag, known);
  if (stage === "pivot check") {
    return firstNoise(diag.u, v.at("errors")) ?? (known.grew === undefined ? { done: {} } : substitute("all pivots are above their rounding errors"));
  }
  if (stage === "substitute") return substituted(v, known);
  if (stage === "refine") return turn(v, v.given("refinement"), v.matrix("corrected X"), v.matrix("residual left"));
  return factored(v, stage, diag);
};

const substitute = (because) => ({ go: "substitute", because });

function usual(v) {
  const { n } = v.matrix("A");
  const diag = ofDiagonal(v.at("diagonal"), n);
  const exponents = ["row_exponents_read", "column_exponents_read"].flatMap((name) => firstTwo(v.at(name), n));
  const farthest = largest(exponents.map(Math.abs));
  const growth = growthOf(diag, 1);
  const again = (because) => ({ go: "fallback", because });
  if (!(farthest <= THRESHOLDS.NEAR_ONE)) return again(`rows or columns had to be scaled by 2^${farthest}, beyond 2^40`);
  if (grew(growth, n)) return again(grewWords(growth, n));
  if (v.has("largest_B") && !sizeNearOne(v.number("largest_B"))) return again(`the largest entry of B, ${short(v.number("largest_B"))}, is beyond 2^-40 to 2^40`);
  const size = normOfProbes(v.matrix("probe_solutions"));
  const small = smallPivot(diag);
  if (small < 0 && !inverseIsLarge(size, diag.most)) {
    return { done: {}, words: [`Entries grew ${short(growth)} times (up to ${short(allowedGrowth(n))} is usual), the norm of the inverse is about ${short(size)}, and no pivot is small.`] };
  }
  return watched(diag, small < 0 ? `the inverse is large, about ${short(size)}` : smallWords(diag, small), {});
}

const smallWords = ({ u, most }, place) => `pivot ${place}, ${short(u[place])}, is small beside its column's ${short(most[place])}`;
const watched = ({ u }, because, given) => zeroPivot(u) ?? { go: "pivot check", because, given };

// After the factors of the scaled system, with partial or with complete pivoting.
function factored(v, stage, diag) {
  const n = diag.u.length;
  const last = stage === "complete pivoting";
  const growth = growthOf(diag, largestEntry(v.matrix("scaled A")));
  const given = { grew: grew(growth, n), last, least: Math.min(growth, v.given("least") ?? Infinity) };
  if (growth === Infinity) return last ? hopeless(given.least) : { go: "complete pivoting", because: "the factors are not finite", given };
  const small = smallPivot(diag);
  if (small < 0) return { go: "probe", because: "no pivot is small; whether the inverse is large is to be seen", given };
  if (given.grew && !last) return { go: "complete pivoting", because: `${grewWords(growth, n)}, and ${smallWords(diag, small)}`, given };
  return watched(diag, smallWords(diag, small), given);
}

function probed(v, { most }, known) {
  const size = normOfProbes(v.matrix("probe_solutions"));
  if (!inverseIsLarge(size, most)) return substitute("the inverse is not large, so the factors are accepted");
  const because = `the inverse is large, about ${short(size)}`;
  return known.grew && !known.last ? { go: "complete pivoting", because: `${because}, and entries grew` } : { go: "pivot check", because };
}

// Columns of A, as they were factored.
function orderOf(v) {
  const { n } = v.matrix("scaled A");
  return v.given("last") ? Array.from(v.at("order")) : Array.from({ length: n }, (_, j) => j);
}

function inOrder(y, order) {
  const at = new Float64Array(y.at.length);
  order.forEach((to, i) => at.set(y.at.subarray(i * y.n, (i + 1) * y.n), to * y.n));
  return { ...y, at };
}

const back = (v, y) => scaledBack(y, v.at("sizes"), v.at("column exponents"));

function substituted(v, known) {
  const [a, b] = [v.matrix("scaled A"), v.matrix("scaled B")];
  const x = inOrder(v.matrix("X"), orderOf(v));
  const residual = solution(a, x, b).error;
  const good = !known.grew || residual <= THRESHOLDS.GOOD;
  const lost = b.at.some((one) => one !== 0 && Math.abs(Math.fround(one)) < THRESHOLDS.NORMAL);
  if (good && !lost) return back(v, x);
  const order = orderOf(v);
  const ordered = made(a.m, a.n, (i, j) => a.at[i * a.n + order[j]]);
  const given = { "A in float64": ordered, "B in float64": b, e: column(new Float64Array(a.n)), f: row(new Float64Array(a.n)), fallback: good ? x : null };
  const because = good ? "part of B was lost beside its larger entries" : `entries grew, and the residual is ${short(residual)}, above ${THRESHOLDS.GOOD}`;
  const zero = made(b.m, b.n, () => 0);
  Object.entries(given).forEach(([name, value]) => (v.player.known[name] = { value }));
  return turn(v, { turns: 0, best: null, bestError: Infinity, score: Infinity }, zero, b, because, given);
}

// Judges a solution of a refinement: it is good enough, another correction comes, or it got no better.
function turn(v, so, x, residual, because = "", given = {}) {
  const [a, b] = [v.matrix("A in float64"), v.matrix("B in float64")];
  const sizes = times(magnitudes(a), magnitudes(x));
  const errors = residual.at.map((one, k) => (one === 0 ? 0 : Math.abs(one) / (sizes.at[k] + Math.abs(b.at[k]))));
  const error = largest(errors);
  const score = so.turns ? errors.reduce((sum, one) => sum + Math.log2(Math.max(one, THRESHOLDS.TARGET)), 0) : Infinity;
  const going = error < so.bestError / 2 || score < so.score - 1;
  const better = error < so.bestError || !so.turns;
  const now = { turns: so.turns + 1, best: better ? x : so.best, bestError: better ? error : so.bestError, score: Math.min(score, so.score) };
  if (error <= THRESHOLDS.TARGET || (so.turns && !going) || now.turns === THRESHOLDS.MOST_ROUNDS || Number.isNaN(error)) return ended(v, now);
  const left = { ...residual, at: residual.at.map((one, k) => (errors[k] <= THRESHOLDS.TARGET ? 0 : one)) };
  const words = because || `the backward error came down to ${short(error)}`;
  return { go: "refine", because: words, given: { ...given, refinement: now, "X so far": x, residual: left } };
}

function ended(v, now) {
  if (now.bestError <= THRESHOLDS.REFINED) return back(v, inOrder(now.best, orderOf(v)));
  const fallback = v.given("fallback");
  if (fallback) return back(v, fallback);
  if (v.given("last")) return hopeless(v.given("least"));
  return { go: "complete pivoting", because: `refinement stopped at a backward error of ${short(now.bestError)}` };
}

function hopeless(least) {
  if (least === Infinity) return { error: "NonFiniteError: the factors do not fit float32, their entries grow" };
  return { error: `ConvergenceError: entries grow ${short(least)} times in the elimination, which costs more digits than float32 has` };
}
