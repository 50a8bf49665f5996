"use strict";
// Sums of the squares of all 5 x 5 windows, limited to what 16 bits hold; in float64, straight from the definition.
// Needs judges/worst.js.

function windowSums(a, w = 5) {
  const sums = made(a.m, a.n, () => 0);
  for (let top = 0; top + w <= a.m; top++) {
    for (let left = 0; left + w <= a.n; left++) {
      const window = made(w, w, (i, j) => a.at[(top + i) * a.n + left + j]);
      times(window, window).at.forEach((one, k) => (sums.at[(top + Math.floor(k / w)) * a.n + left + (k % w)] += one));
    }
  }
  return sums;
}

JUDGES.window_squares = ({ A }, { C }) => {
  const limited = windowSums(A).at.map((one) => Math.min(Math.max(one, 0), 65535));
  const errors = C.at.map((one, k) => Math.abs(one - limited[k]));
  const bounds = windowSums(magnitudes(A)).at.map((one) => 35 * ROUNDOFF * one);
  return worst(errors, bounds, "|C - sum of W W|, over 35 u times its magnitudes, of the worst entry");
};
