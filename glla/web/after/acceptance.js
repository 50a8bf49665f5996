"use strict";
// Which factors are accepted: see glla/operations/acceptance.py.

const allowedGrowth = (order) => THRESHOLDS.GROWTH[0] + THRESHOLDS.GROWTH[1] * Math.sqrt(order);
const sizeNearOne = (size) => size === 0 || Math.abs(Math.log2(size)) <= THRESHOLDS.NEAR_ONE;

// U's diagonal, and the largest magnitude in U's columns, of texels (u, u', s, s').
function ofDiagonal(texels, n) {
  const u = new Float64Array(n);
  const most = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    u[i] = texels[4 * (i >> 1) + (i & 1)];
    most[i] = texels[4 * (i >> 1) + 2 + (i & 1)];
  }
  return { u, most };
}

// Largest entry of U beside that of the matrix; infinite if the factors are not finite.
function growthOf({ u, most }, scale) {
  const size = largest(most);
  if (!u.every(Number.isFinite) || !Number.isFinite(size)) return Infinity;
  return scale > 0 ? size / scale : 0;
}

const grew = (growth, order) => !(growth <= allowedGrowth(order));
const grewWords = (growth, order) => `entries grew ${short(growth)} times, more than the ${short(allowedGrowth(order))} of random matrices`;
const smallPivot = ({ u, most }) => u.findIndex((one, i) => !(Math.abs(one) > THRESHOLDS.SMALL * most[i]));

// Frobenius norm of the inverse, from solutions for random numbers.
function normOfProbes({ n, at }) {
  const found = Math.sqrt(at.reduce((sum, one) => sum + one * one, 0) / n);
  return Number.isFinite(found) ? found : Infinity;
}

const inverseIsLarge = (size, most) => !(size * ROUNDOFF * Math.sqrt(most.length) * largest(most) <= THRESHOLDS.CHECK_PIVOTS_ABOVE);

// Places of pivots that are compared with their rounding errors; none where one of them is zero.
const suspects = (u) => (u.every((one) => one !== 0) ? Array.from(u.keys()).filter((i) => Number.isFinite(u[i])) : []);

// T x = b, T the strict upper triangle of entry(i, j), with a diagonal.
function backward(n, entry, diagonal, b) {
  const x = Float64Array.from(b);
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= entry(i, j) * x[j];
    x[i] /= diagonal(i);
  }
  return x;
}

// Rounding errors of some pivots: see glla/operations/acceptance.py.
function roundingErrors({ n, at }, places) {
  const lu = (i, j) => at[i * n + j];
  const reduced = Array.from({ length: n }, (_, i) => at.subarray(i * n, i * n + i).some((one) => one !== 0));
  return places.map((place) => {
    const before = (k) => k < place;
    const z = backward(n, lu, (i) => lu(i, i), Array.from({ length: n }, (_, k) => (before(k) ? lu(k, place) : 0)));
    const w = backward(n, (i, j) => lu(j, i), () => 1, Array.from({ length: n }, (_, k) => (before(k) ? lu(place, k) : 0)));
    const own = (x, k) => x[k] * x[k] + Number(k === place);
    let squares = 0;
    for (let i = 0; i < n; i++) {
      let right = 0;
      for (let j = i; j < n; j++) right += lu(i, j) ** 2 * own(z, j);
      let left = reduced[i] ? own(w, i) : 0;
      for (let k = i + 1; k < n; k++) left += lu(k, i) ** 2 * own(w, k);
      squares += left * right;
    }
    return Number.isNaN(squares) ? Infinity : ROUNDOFF * Math.sqrt(squares);
  });
}

HOSTS["rounding errors of the pivots"] = ([lu, diagonal]) => [column(roundingErrors(lu, suspects(ofDiagonal(diagonal.at, lu.n).u)))];

// What a call raises for a pivot that is zero, or nothing but rounding error.
const singularAt = (place, order, value, error) => ({
  error: `SingularMatrixError: pivot ${place} of ${order} is ${short(value)}${error ? `, maybe all rounding error (up to ${short(error)})` : ""}`,
});

// The first pivot that is zero; the first that is at most five times its rounding error.
function zeroPivot(u) {
  const place = u.indexOf(0);
  return place < 0 ? null : singularAt(place, u.length, 0, 0);
}

function firstNoise(u, errors) {
  const places = suspects(u);
  const bad = places.findIndex((place, k) => !(Math.abs(u[place]) > THRESHOLDS.SINGULAR * errors[k]));
  return bad < 0 ? null : singularAt(places[bad], u.length, u[places[bad]], THRESHOLDS.SINGULAR * errors[bad]);
}
