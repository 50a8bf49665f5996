"use strict";
// The reduced row echelon form: where it may not stand, float64 decides column by column. A call looks closer than this
// page, see `settle` in glla/operations/elimination/rref.py: it scales first, and has columns of known coordinates.
// Needs after/acceptance.js and Needs judges/echelon.js.

// Gauss-Jordan with partial pivoting in float64: a column whose rest is no more than rounding errors has no pivot.
function echelonInFloat64([a]) {
  const { m, n } = a;
  const at = Float64Array.from(a.at);
  const leading = new Array(Math.min(m, n)).fill(-1);
  const whole = at.every(Number.isInteger);
  let r = 0;
  for (let j = 0; j < n && r < m; j++) {
    let p = r;
    let size = 0;
    for (let i = 0; i < m; i++) size = Math.max(size, Math.abs(a.at[i * n + j]));
    for (let i = r; i < m; i++) if (Math.abs(at[i * n + j]) > Math.abs(at[p * n + j])) p = i;
    const none = !(Math.abs(at[p * n + j]) > Math.max(m, n) * (whole ? 2 ** -50 : ROUNDOFF) * size);
    if (none) {
      for (let i = r; i < m; i++) at[i * n + j] = 0;
      continue;
    }
    for (let k = 0; k < n; k++) [at[r * n + k], at[p * n + k]] = [at[p * n + k], at[r * n + k]];
    const pivot = at[r * n + j];
    for (let k = j; k < n; k++) at[r * n + k] /= pivot;
    for (let i = 0; i < m; i++) {
      const lead = at[i * n + j];
      if (i !== r && lead !== 0) for (let k = j; k < n; k++) at[i * n + k] -= lead * at[r * n + k];
    }
    leading[r++] = j;
  }
  return [rounded({ m, n, at }), column(leading)];
}

HOSTS["echelon form in float64"] = echelonInFloat64;

// Figures of the elimination: the smallest ratio of a block norm to its columns' largest entry, and how entries grew.
function soundness(player, operand, health) {
  const { values, c, drawn } = health;
  let [ratio, most] = [Infinity, 0];
  for (let texel = 0; texel < values.length / c; texel++) {
    if (!drawn[texel]) continue;
    ratio = Math.min(ratio, values[texel * c]);
    most = Math.max(most, values[texel * c + 1]);
  }
  const partial = player.data.plans[0].name.includes("partial");  // which tells a growth itself
  const scale = partial ? 1 : largestEntry(operand);
  return { ratio: partial ? null : ratio, growth: scale > 0 ? most / scale : 0 };
}

// Why float64 must decide; "" if it need not: columns without a pivot, or pivots that may be noise.
function rejectedEchelon(player, a) {
  const results = resultsOf(player);
  const order = Math.min(a.m, a.n);
  const { ratio, growth } = soundness(player, a, results.health);
  if (ratio !== null && !(ratio >= THRESHOLDS.SMALLEST_RATIO)) {
    return `the block norms found no good pivots: the smallest is ${short(ratio)} of its columns' largest entry, below 2^-7`;
  }
  if (grew(growth, order)) return grewWords(growth, order);
  const found = pivotColumns(results);
  const missing = Array.from({ length: order }, (_, j) => j).find((j) => found[j] !== j);
  if (missing !== undefined) return `column ${missing} may have no pivot`;
  const { values, c } = results.health;
  let smallest = Infinity;
  for (let k = 2; k < values.length; k += c) if (values[k] > 0) smallest = Math.min(smallest, values[k]);
  const noise = 8 * order * ROUNDOFF * largestEntry(a);
  return smallest < noise ? `a pivot of ${short(smallest)} may be nothing but rounding error (up to ${short(noise)})` : "";
}

SETTLE.rref = (stage, v) => {
  const a = v.matrix("A");
  const because = stage === "" ? rejectedEchelon(v.player, a) : "";
  if (because) return { go: "float64", because };
  const far = a.at.some((one) => one !== 0 && !sizeNearOne(Math.abs(one)));
  const words = [
    `The rank found is ${pivotColumns(resultsOf(v.player)).length}.`,
    "A call scales rows and columns by powers of two before these passes, and sees by columns of known coordinates that ride along, or by factors, whether the leading columns are independent; this page decides by the passes that it shows.",
  ];
  if (far) words.unshift("Entries are beyond 2^-40 to 2^40.");
  return { done: {}, words };
};
