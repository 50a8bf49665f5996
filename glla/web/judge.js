"use strict";
// Results judged in float64, by the bounds of glla/testing, and what glla would make of them.
//
// A matrix here is {m, n, at}, its entries row by row in a Float64Array. A judge gives {error, bound, what, flaw}: the
// error, what it may be, both in words; or a flaw of the form, which no number makes good.

const ROUNDOFF = 2 ** -24;  // unit roundoff of float32

// -- matrices -------------------------------------------------------------------------------------------------------

function wide({ shape: [m, n], values }) {
  return { m, n, at: Float64Array.from(values) };
}

function made(m, n, entry) {
  const at = new Float64Array(m * n);
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) at[i * n + j] = entry(i, j);
  return { m, n, at };
}

const unit = (n) => made(n, n, (i, j) => Number(i === j));
const upper = (a) => made(a.m, a.n, (i, j) => (j >= i ? a.at[i * a.n + j] : 0));
const magnitudes = (a) => ({ ...a, at: a.at.map(Math.abs) });
const transposed = (a) => made(a.n, a.m, (i, j) => a.at[j * a.n + i]);
const minus = (a, b) => ({ ...a, at: a.at.map((one, k) => one - b.at[k]) });
const symmetric = (a) => made(a.m, a.n, (i, j) => a.at[Math.max(i, j) * a.n + Math.min(i, j)]);

function times(a, b) {
  return made(a.m, b.n, (i, j) => {
    let sum = 0;
    for (let k = 0; k < a.n; k++) sum += a.at[i * a.n + k] * b.at[k * b.n + j];
    return sum;
  });
}

// Sums of magnitudes of the columns; their largest is the 1-norm.
const columnSums = (a) => columnsFolded(a, (sum, one) => sum + one);
const columnLargest = (a) => columnsFolded(a, Math.max);

function columnsFolded(a, fold) {
  return Array.from({ length: a.n }, (_, j) => {
    let folded = 0;
    for (let i = 0; i < a.m; i++) folded = fold(folded, Math.abs(a.at[i * a.n + j]));
    return folded;
  });
}

const largest = (numbers) => numbers.reduce((most, one) => (one > most || Number.isNaN(one) ? one : most), 0);
const norm = (a) => largest(columnSums(a));
const largestEntry = (a) => largest(a.at.map(Math.abs));
const finite = (matrices) => matrices.every(({ at }) => at.every(Number.isFinite));
const quotient = (error, bound) => (error === 0 ? 0 : error / bound);

// The first n numbers of the first two channels of texels.
const firstTwo = (texels, n) => Array.from({ length: n }, (_, i) => texels[4 * (i >> 1) + (i & 1)]);

// -- judges -----------------------------------------------------------------------------------------------------------

// By the name of the operation: (operands, results) -> judgement. Results that are matrices come as such. They stand in
// the files of judges/; a page has the one of its operation.
const JUDGES = {};

// A judgement by a normalised residual.
const normalised = (error, scale, what) => ({ error: quotient(error, scale), bound: THRESHOLDS.RESIDUAL_LIMIT, what });

// -- verdicts ---------------------------------------------------------------------------------------------------------

function operandsOf(player) {
  const known = Object.entries(player.data.known ?? {}).map(([name, one]) => [name, decoded(one)]);
  return Object.fromEntries([...known, ...Object.entries(player.operands)].map(([name, one]) => [name, wide(one)]));
}

// Results by name: of all plans that ran, and what the last decision gave.
function resultsOf(player) {
  const made = Object.entries(player.known).filter(([name, { value }]) => value === undefined && !(name in player.operands));
  const found = made.map(([name, { plan, slot }]) => {
    const texels = unpacked(player.storage(plan, slot), player.read(plan, slot));
    return [name, texels.shape ? wide(texels) : texels];
  });
  return { ...Object.fromEntries(found), ...player.settled?.done };
}

// Is the result right? {ok, words}; ok is null where there is none, or no judge.
function verdict(player) {
  const judge = JUDGES[player.data.judge];
  const { error: raised, elsewhere, done } = player.settled ?? {};
  const none = "no result, but an error";
  if (raised) return { ok: null, mark: none, words: `glla raises ${raised}.` };
  if (elsewhere) return { ok: null, mark: "not decided", words: elsewhere };
  if (!judge) return { ok: null, words: "This page has no judge of its own for this operation; glla.testing has." };
  const operands = operandsOf(player);
  if (!finite(Object.values(operands))) return { ok: false, words: "An operand holds NaN or infinity: no result is right." };
  const results = resultsOf(player);
  const matrices = Object.keys(player.data.plans[0].results).map((name) => results[name]).filter((one) => one?.at);
  if (!finite(matrices)) {
    if (results.X && done) return { ok: null, mark: none, words: "The solution does not fit float32: glla raises NonFiniteError." };
    return { ok: false, words: "The result holds NaN or infinity." };
  }
  const { error, bound, what, flaw } = judge(operands, results);
  if (flaw) return { ok: false, words: `The result is wrong: ${flaw}.` };
  const ratio = quotient(error, bound);
  return { ok: ratio <= 1, words: `${what} is ${short(error)}; up to ${short(bound)} is right, so the error is ${short(ratio)} of its bound.` };
}

// -- what glla makes of it ----------------------------------------------------------------------------------------------

// What a call of glla does with these operands, in sentences; what it may do next stands in data.after.
function outcome(player) {
  const operands = Object.values(operandsOf(player));
  const { operation } = player.data;
  if (!finite(operands)) {
    return [`glla.${operation} refuses NaN and infinity (NonFiniteError), unless check_finite=False lets them through.`];
  }
  const sentences = operands.every(({ at }) => at.every((one) => one === 0)) ? ["All entries are zero."] : [];
  const plans = player.timeline.filter((entry) => entry.because).map((entry) => player.data.plans[entry.plan].name);
  if (plans.length) sentences.push(`The plans that came after the first: ${plans.join(", ")}.`);
  else if (player.settled?.done) sentences.push("Accepted as it is: no other plan comes.");
  return [...sentences, ...(player.settled?.words ?? [])];
}

// Three digits, as people write them.
function short(number) {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "infinity" : "-infinity";
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return String(number);
  const size = Math.abs(number);
  return size >= 1e-3 && size < 1e6 ? String(Number(number.toPrecision(3))) : number.toExponential(2).replace("e+", "e");
}
