"use strict";
// The reduced row echelon form: its form, exactly, and how far A is from its pivot columns times R.

// Pivot columns of an echelon form: from the records of its steps, or from the form itself.
function pivotColumns(results) {
  const found = [];
  if (!results.pivots_even) {
    const { m, n, at } = results.R;
    for (let i = 0; i < m; i++) {
      const lead = at.subarray(i * n, (i + 1) * n).findIndex((one) => one !== 0);
      if (lead >= 0) found.push(lead);
    }
    return found;
  }
  const records = [results.pivots_even, results.pivots_odd];
  for (let k = 0; records[k % 2] && k >> 1 < records[k % 2].w; k++) {
    const { values, drawn } = records[k % 2];
    for (const side of [0, 1]) if (drawn[k >> 1] && values[4 * (k >> 1) + side] >= 0) found.push(2 * k + side);
  }
  return found;
}

function echelon(a, r, pivots) {
  const isPivot = new Map(pivots.map((j, row) => [j, row]));
  for (let i = 0; i < r.m; i++) {
    for (let j = 0; j < r.n; j++) {
      const entry = r.at[i * r.n + j];
      if (isPivot.has(j) && entry !== Number(isPivot.get(j) === i)) return { flaw: `column ${j} of a pivot is not a unit vector` };
      if (!isPivot.has(j) && entry !== 0 && !(i < pivots.length && j > pivots[i])) {
        return { flaw: "what is left of a pivot, or below the last one, is not 0" };
      }
    }
  }
  const basis = made(a.m, pivots.length, (i, k) => a.at[i * a.n + pivots[k]]);
  const rows = made(pivots.length, a.n, (i, j) => r.at[i * a.n + j]);
  const size = largest(columnSums(transposed(basis)));
  const difference = minus(a, times(basis, rows));
  const errors = Array.from({ length: a.n }, (_, j) => {
    const column = (b) => largest(Array.from({ length: b.m }, (_, i) => Math.abs(b.at[i * b.n + j])));
    return quotient(column(difference), Math.max(a.m, a.n) * size * column(rows) * ROUNDOFF);
  });
  return { error: largest(errors), bound: RESIDUAL_LIMIT, what: "||A_j - B R_j|| over max(m, n) ||B|| ||R_j|| u, B the pivot columns" };
}

// Gauss-Jordan with partial pivoting in float64: a column whose rest is no more than rounding errors has no pivot.
function echelonInFloat64({ A }) {
  const { m, n, at } = { ...A, at: Float64Array.from(A.at) };
  const whole = at.every(Number.isInteger);
  let r = 0;
  for (let j = 0; j < n && r < m; j++) {
    let p = r;
    let size = 0;
    for (let i = 0; i < m; i++) size = Math.max(size, Math.abs(A.at[i * n + j]));
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
    r++;
  }
  return { R: { shape: [m, n], values: Float32Array.from(at) } };
}

HOSTS["echelon form in float64"] = echelonInFloat64;

JUDGES.rref = ({ A }, results) => echelon(A, results.R, pivotColumns(results));

// Columns without a pivot, or a pivot that may be noise: what glla decides in float64.
DOUBTS.rref = (player, plan, a) => {
  const results = resultsOf(player, plan);
  const found = pivotColumns(results);
  const order = Math.min(a.m, a.n);
  const missing = Array.from({ length: order }, (_, j) => j).find((j) => found[j] !== j);
  if (missing !== undefined) return `column ${missing} may have no pivot`;
  const { values, c } = results.health;
  let smallest = Infinity;
  for (let k = 2; k < values.length; k += c) if (values[k] > 0) smallest = Math.min(smallest, values[k]);
  const noise = 8 * order * ROUNDOFF * largestEntry(a);
  return smallest < noise ? `a pivot of ${short(smallest)} may be nothing but rounding error (up to ${short(noise)})` : "";
};

OUTCOMES.rref = (player, plan) => [`The rank found is ${pivotColumns(resultsOf(player, plan)).length}.`];
