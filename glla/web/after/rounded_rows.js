"use strict";
// Substitution with an upper triangle in float64: see glla/operations/host/substitution.py.

// Each row of the solution is rounded to float32 before it is used.
function inRoundedRows(t, b) {
  const x = { ...b, at: Float64Array.from(b.at) };
  for (let j = 0; j < x.n; j++) {
    for (let i = t.n - 1; i >= 0; i--) {
      let sum = x.at[i * x.n + j];
      for (let k = i + 1; k < t.n; k++) sum -= t.at[i * t.n + k] * x.at[k * x.n + j];
      sum /= t.at[i * t.n + i];
      x.at[i * x.n + j] = Number.isFinite(Math.fround(sum)) ? Math.fround(sum) : sum;
    }
  }
  return x;
}
