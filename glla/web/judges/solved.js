"use strict";
// Solutions in float64, for judges that ask how singular a matrix is. Needs judges/elimination.js.

// X of P A X = P B by the factors of an elimination with partial pivoting.
function solved({ order, lu }, b) {
  const n = lu.length;
  const x = made(n, b.n, (i, j) => b.at[order[i] * b.n + j]);
  for (let j = 0; j < b.n; j++) {
    for (let i = 0; i < n; i++) for (let k = 0; k < i; k++) x.at[i * b.n + j] -= lu[i][k] * x.at[k * b.n + j];
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) x.at[i * b.n + j] -= lu[i][k] * x.at[k * b.n + j];
      x.at[i * b.n + j] /= lu[i][i];
    }
  }
  return x;
}
