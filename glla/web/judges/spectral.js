"use strict";
// Eigenvalues and singular values beside those of float64, and their vectors: see glla/testing/spectral. Needs after/singular.js.

const firstOf = (one, n) => Array.from(one.at ?? one).slice(0, n);
const frobenius = (a) => Math.sqrt(a.at.reduce((sum, one) => sum + one * one, 0));
const slantOf = (a, n) => frobenius(minus(times(transposed(a), a), unit(a.n))) / (n * ROUNDOFF);

// Errors of values in sqrt(n) u times the largest one.
function valueError(found, expected, n) {
  const most = largest(expected.map(Math.abs));
  return quotient(largest(found.map((one, k) => Math.abs(one - expected[k]))), Math.sqrt(n) * most * ROUNDOFF + 2 ** -149);
}

// Of a symmetric matrix in ascending order: those of A + c I, all positive, are its singular values.
function eigenvalues(a) {
  const c = frobenius(a);
  const moved = made(a.n, a.n, (i, j) => a.at[i * a.n + j] + (i === j ? c : 0));
  return Array.from(singular(moved).s, (one) => one - c).sort((one, other) => one - other);
}

function eigen(a, w, V) {
  const n = a.n;
  if (w.some((one, k) => k && one < w[k - 1])) return { flaw: "eigenvalues are not in ascending order" };
  const errors = [valueError(w, eigenvalues(a), n)];
  if (V) {
    const rest = minus(times(a, V), made(n, n, (i, j) => V.at[i * n + j] * w[j]));
    errors.push(quotient(frobenius(rest), n * frobenius(a) * ROUNDOFF + 2 ** -149), slantOf(V, n));
  }
  const what = V ? "the largest of ||A V - V L|| over n ||A|| u, ||V^T V - I|| over n u, and errors of values" : "the largest error of a value over sqrt(n) ||A|| u";
  return { error: largest(errors), bound: THRESHOLDS.RESIDUAL_LIMIT, what };
}

JUDGES.eigh = ({ A }, { w, V }) => eigen(symmetric(A), firstOf(w, A.n), V);
JUDGES.eigvalsh = ({ A }, { w }) => eigen(symmetric(A), firstOf(w, A.n));
JUDGES.tridiagonal_pairs = ({ d, e }, { w, V }) => {
  const n = d.at.length;
  return eigen(made(n, n, (i, j) => (i === j ? d.at[i] : Math.abs(i - j) === 1 ? e.at[Math.min(i, j)] : 0)), firstOf(w, n), V);
};

JUDGES.svd = ({ A }, { U, S, Vh }) => {
  const n = Math.max(A.m, A.n), k = Math.min(A.m, A.n), s = firstOf(S, k);
  const expected = Array.from(singular(A.m < A.n ? transposed(A) : A).s).slice(0, k);
  const product = made(A.m, A.n, (i, j) => s.reduce((sum, one, l) => sum + U.at[i * U.n + l] * one * Vh.at[l * Vh.n + j], 0));
  const residual = quotient(frobenius(minus(product, A)), n * frobenius(A) * ROUNDOFF + 2 ** -149);
  const errors = [valueError(s, expected, k), residual, slantOf(U, n), slantOf(transposed(Vh), n)];
  const what = "the largest of ||A - U S V^T|| over n ||A|| u, ||U^T U - I|| and ||V^T V - I|| over n u, and errors of values";
  return { error: largest(errors), bound: THRESHOLDS.RESIDUAL_LIMIT, what };
};
