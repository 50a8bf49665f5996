"use strict";
// The solution with R on the host, in float64: see glla/operations/orthogonal/lstsq.py. Needs after/singular.js and Needs after/acceptance.js.

// Solution of least norm, rank and singular values of a square system.
function least(a, b, tolerance) {
  const { s, u, v } = singular(a);
  const rank = s[0] > 0 ? s.filter((one) => one > tolerance * s[0]).length : 0;
  const x = made(a.n, b.n, (i, j) => {
    let sum = 0;
    for (let k = 0; k < rank; k++) sum += (v[k][i] * u[k].reduce((all, one, l) => all + one * b.at[l * b.n + j], 0)) / s[k];
    return sum;
  });
  return { x, rank, s };
}

// R below its columns' exponents, and zeros below its diagonal.
const unscaled = (r, exponents) => made(r.m, r.n, (i, j) => (j < i ? 0 : shifted(r.at[i * r.n + j], exponents[j])));

HOSTS["singular values of R, rank, solution"] = ([r, exponents], player) => {
  const { m, n } = wide(player.operands.A);
  const both = unscaled(r, firstTwo(exponents.at, r.n));
  const tolerance = 2 ** -23 * Math.max(m, n);
  const part = (top, height, left, width) => made(height, width, (i, j) => both.at[(top + i) * both.n + left + j]);
  const { x, rank, s } = least(part(0, n, 0, n), part(0, n, n, both.n - n), tolerance);
  const rest = part(n, both.m - n, n, both.n - n);
  const residuals = m > n ? Array.from({ length: rest.n }, (_, j) => rest.at.reduce((sum, one, k) => sum + (k % rest.n === j ? one * one : 0), 0)) : [];
  return [rounded(x), rounded(column(residuals)), column([rank]), rounded(column(s))];
};

SETTLE.lstsq = (stage, v) => {
  const s = v.at("s");
  return { done: {}, words: [`The rank is ${v.number("rank")}, the singular values go from ${short(s[0])} down to ${short(s.at(-1))}.`] };
};
