"use strict";
// An elimination in float64, for judges that ask how singular a matrix is.

// LU in float64 with partial pivoting: {sign, u: diagonal, solve(B)}; a pivot may be 0.
function eliminated(a) {
  const n = a.m;
  const lu = Float64Array.from(a.at);
  const order = Array.from({ length: n }, (_, i) => i);
  let sign = 1;
  for (let k = 0; k < n; k++) {
    let p = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(lu[i * n + k]) > Math.abs(lu[p * n + k])) p = i;
    if (p !== k) {
      for (let j = 0; j < n; j++) [lu[k * n + j], lu[p * n + j]] = [lu[p * n + j], lu[k * n + j]];
      [order[k], order[p]] = [order[p], order[k]];
      sign = -sign;
    }
    if (lu[k * n + k] === 0) continue;
    for (let i = k + 1; i < n; i++) {
      const l = (lu[i * n + k] /= lu[k * n + k]);
      for (let j = k + 1; j < n; j++) lu[i * n + j] -= l * lu[k * n + j];
    }
  }
  const solve = (b) => {
    const x = made(n, b.n, (i, j) => b.at[order[i] * b.n + j]);
    for (let j = 0; j < b.n; j++) {
      for (let i = 0; i < n; i++) for (let k = 0; k < i; k++) x.at[i * b.n + j] -= lu[i * n + k] * x.at[k * b.n + j];
      for (let i = n - 1; i >= 0; i--) {
        for (let k = i + 1; k < n; k++) x.at[i * b.n + j] -= lu[i * n + k] * x.at[k * b.n + j];
        x.at[i * b.n + j] /= lu[i * n + i];
      }
    }
    return x;
  };
  return { sign, u: Array.from({ length: n }, (_, i) => lu[i * n + i]), solve };
}
