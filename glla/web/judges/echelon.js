"use strict";
// The reduced row echelon form: its form, exactly, and how far A is from its pivot columns times R.

// Pivot columns of an echelon form: from the records of its steps, or from the form itself.
function pivotColumns(results) {
  const found = [];
  if (results.leading) return Array.from(results.leading.at).filter((one) => one >= 0);
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
  return normalised(largest(errors), 1, "||A_j - B R_j|| over max(m, n) ||B|| ||R_j|| u, B the pivot columns");
}

JUDGES.rref = ({ A }, results) => echelon(A, results.R, pivotColumns(results));
