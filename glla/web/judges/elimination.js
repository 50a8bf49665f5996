"use strict";
// An elimination in float64, for judges and for the order of complete pivoting.

// LU with partial or complete pivoting, the orders of its rows and columns, and U's diagonal; a pivot may be 0. The sign
// is that of the exchanges of rows.
function eliminated(a, complete = false) {
  const n = a.m;
  const lu = Array.from({ length: n }, (_, i) => Float64Array.from(a.at.subarray(i * n, (i + 1) * n)));
  const [order, columns] = [[...lu.keys()], [...lu.keys()]];
  let sign = 1;
  for (let k = 0; k < n; k++) {
    let [p, q] = [k, k];
    for (let i = k; i < n; i++) for (let j = k; j < (complete ? n : k + 1); j++) if (Math.abs(lu[i][j]) > Math.abs(lu[p][q])) [p, q] = [i, j];
    for (const line of [lu, order]) [line[k], line[p]] = [line[p], line[k]];
    for (const line of [...lu, columns]) [line[k], line[q]] = [line[q], line[k]];
    if (p !== k) sign = -sign;
    if (lu[k][k] === 0) continue;
    for (let i = k + 1; i < n; i++) {
      const l = (lu[i][k] /= lu[k][k]);
      for (let j = k + 1; j < n; j++) lu[i][j] -= l * lu[k][j];
    }
  }
  return { sign, u: lu.map((line, i) => line[i]), columns, order, lu };
}
