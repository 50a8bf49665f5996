"use strict";
// Results judged in float64, by the bounds of glla/testing, and what glla would make of them.
//
// A matrix here is {m, n, at}, its entries row by row in a Float64Array. A judge gives {error, bound, what, flaw}: the
// error, what it may be, both in words; or a flaw of the form, which no number makes good.

const ROUNDOFF = 2 ** -24;  // unit roundoff of float32
const RESIDUAL_LIMIT = 30;  // largest normalised residual, the threshold of LAPACK's own tests
const SMALLEST_RATIO = 2 ** -7;  // of a block norm to the largest entry of its two columns, with which factors stand
const NEAR_ONE = 2 ** 40;  // entries beyond it, or below its inverse, are scaled first

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
const lower = (a) => made(a.m, a.n, (i, j) => (j <= i ? a.at[i * a.n + j] : 0));
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
function columnSums(a) {
  return Array.from({ length: a.n }, (_, j) => {
    let sum = 0;
    for (let i = 0; i < a.m; i++) sum += Math.abs(a.at[i * a.n + j]);
    return sum;
  });
}

const largest = (numbers) => numbers.reduce((most, one) => (one > most || Number.isNaN(one) ? one : most), 0);
const norm = (a) => largest(columnSums(a));
const largestEntry = (a) => largest(a.at.map(Math.abs));
const quotient = (error, bound) => (error === 0 ? 0 : error / bound);

// -- judges -----------------------------------------------------------------------------------------------------------

// By the name of the operation: (operands, results) -> judgement. Results that are matrices come as such. They stand in
// the files of judges/; a page has the one of its operation.
const JUDGES = {};

// By the name of the operation: (player, plan, first operand) -> more sentences of `outcome`.
const OUTCOMES = {};

// By the name of the operation: (player, plan, first operand) -> why its result may not stand, "" if it does.
const DOUBTS = {};

// By its words: what a step of the host does, (operands) -> results.
const HOSTS = {};

// The first two channels of a line of texels, one after the other: a number for each row.
function pairs({ values, c }, count) {
  const found = [];
  for (let k = 0; k < values.length && found.length < count; k += c) found.push(values[k], values[k + 1]);
  return found.slice(0, count);
}

// -- verdicts ---------------------------------------------------------------------------------------------------------

function operandsOf(player) {
  return Object.fromEntries(Object.entries(player.operands).map(([name, one]) => [name, wide(one)]));
}

function resultsOf(player, plan) {
  return Object.fromEntries(Object.keys(player.data.plans[plan].results).map((name) => {
    const value = player.value(plan, name);
    return [name, value.shape ? wide(value) : value];
  }));
}

// Is the result right? {ok, ratio, words}; ok is null where the page has no judge.
function verdict(player, plan) {
  const judge = JUDGES[player.data.judge];
  if (!judge) return { ok: null, words: "This page has no judge of its own for this operation; glla.testing has." };
  const operands = operandsOf(player);
  if (Object.values(operands).some(({ at }) => at.some((one) => !Number.isFinite(one)))) {
    return { ok: false, words: "An operand holds NaN or infinity: no result is right." };
  }
  const results = resultsOf(player, plan);
  const matrices = Object.values(results).filter((one) => one.at);
  if (matrices.some(({ at }) => at.some((one) => !Number.isFinite(one)))) {
    return { ok: false, words: "The result holds NaN or infinity." };
  }
  const { error, bound, what, flaw } = judge(operands, results);
  if (flaw) return { ok: false, words: `The result is wrong: ${flaw}.` };
  const ratio = quotient(error, bound);
  const ok = ratio <= 1;
  const words = `${what} is ${short(error)}; up to ${short(bound)} is right, so the error is ${short(ratio)} of its bound.`;
  return { ok, ratio, words };
}

// -- what glla makes of it ----------------------------------------------------------------------------------------------

// Figures of an elimination: how much entries grew, and, of a block norm, the smallest ratio that a pivot had.
function health(player, plan) {
  const { results, name } = player.data.plans[plan];
  const operand = Object.values(operandsOf(player))[0];
  if (!("health" in results) || !operand) return null;
  const { values, c, drawn } = player.read(plan, player.result(plan, "health"));
  let [ratio, most] = [Infinity, 0];
  for (let texel = 0; texel < values.length / c; texel++) {
    if (!drawn[texel]) continue;
    ratio = Math.min(ratio, values[texel * c]);
    most = Math.max(most, values[texel * c + 1]);
  }
  // Of an equilibrated matrix the largest entries are 1 to 2; an echelon form with partial pivoting tells a growth itself.
  const { operation } = player.data;
  const partial = operation === "rref" && name.includes("partial") ? 1 : 0;
  const scale = partial || ("row_exponents" in results ? 2 : largestEntry(operand));
  const order = Math.min(operand.m, operand.n);
  const allowed = 16 + 4 * Math.sqrt(order);
  const blocks = /harmonic|geometric/.test(name);
  const growth = scale > 0 ? most / scale : 0;
  let trouble = "";
  if (blocks && !(ratio >= SMALLEST_RATIO)) {
    trouble = `the block norms found no good pivots: the smallest is ${short(ratio)} of its columns' largest entry, below 2^-7`;
  } else if (!(growth <= allowed)) {
    trouble = `entries grew ${short(growth)} times, more than the ${short(allowed)} of random matrices`;
  }
  return { ratio: blocks ? ratio : null, growth, allowed, trouble };
}

// Why the plan runs that comes after another; "" if it does not.
function secondTry(player, plan) {
  const operands = Object.values(operandsOf(player));
  if (player.data.plans[plan].when !== "doubt" || operands.some(({ at }) => !at.every(Number.isFinite))) return "";
  return health(player, plan - 1)?.trouble || (DOUBTS[player.data.operation]?.(player, plan - 1, operands[0]) ?? "");
}

// What a call of glla does with these operands, in sentences; what it may do next stands in data.after.
function outcome(player, plan) {
  const operands = Object.values(operandsOf(player));
  const sentences = [];
  const { operation } = player.data;
  if (operands.some(({ at }) => at.some((one) => !Number.isFinite(one)))) {
    return [`glla.${operation} refuses NaN and infinity (NonFiniteError), unless check_finite=False lets them through.`];
  }
  const entries = operands.flatMap(({ at }) => Array.from(at, Math.abs)).filter((one) => one > 0);
  if (!entries.length) sentences.push("All entries are zero.");
  if (entries.some((one) => one > NEAR_ONE || one < 1 / NEAR_ONE)) {
    sentences.push("Entries are beyond 2^-40 to 2^40: glla scales rows and columns by powers of two first, this plan does not.");
  }
  const figures = health(player, plan);
  if (figures) {
    const ratio = figures.ratio === null ? "" : `, the smallest pivot norm is ${short(figures.ratio)} of its columns' largest entry`;
    sentences.push(`Entries grew ${short(figures.growth)} times (up to ${short(figures.allowed)} is usual)${ratio}.`);
    sentences.push(figures.trouble ? `Not accepted: ${figures.trouble}.` : "Accepted.");
  }
  sentences.push(...(OUTCOMES[operation]?.(player, plan, operands[0]) ?? []));
  return sentences;
}

// Three digits, as people write them.
function short(number) {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "infinity" : "-infinity";
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return String(number);
  const size = Math.abs(number);
  return size >= 1e-3 && size < 1e6 ? String(Number(number.toPrecision(3))) : number.toExponential(2).replace("e+", "e");
}
