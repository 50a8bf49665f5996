"use strict";
// Singular values of a square matrix by one-sided Jacobi rotations (Golub and Van Loan 2013, section 8.6.3):
// {s, u, v}, the largest first; columns of u of singular values 0 are 0.
function singular(a) {
  const n = a.n;
  const u = Array.from({ length: n }, (_, j) => Float64Array.from({ length: a.m }, (_one, i) => a.at[i * n + j]));
  const v = Array.from({ length: n }, (_, j) => Float64Array.from({ length: n }, (_one, i) => Number(i === j)));
  const dot = (x, y) => x.reduce((sum, one, i) => sum + one * y[i], 0);
  for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const [alpha, beta, gamma] = [dot(u[p], u[p]), dot(u[q], u[q]), dot(u[p], u[q])];
        if (!(Math.abs(gamma) > 2 ** -52 * Math.sqrt(alpha * beta))) continue;
        turned = true;
        const zeta = (beta - alpha) / (2 * gamma);
        const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const c = 1 / Math.hypot(1, t);
        for (const [x, y] of [[u[p], u[q]], [v[p], v[q]]]) {
          for (let i = 0; i < x.length; i++) [x[i], y[i]] = [c * (x[i] - t * y[i]), c * (t * x[i] + y[i])];
        }
      }
    }
  }
  const s = u.map((one) => Math.hypot(...one));
  const order = s.map((_, k) => k).sort((p, q) => s[q] - s[p]);
  return { s: order.map((k) => s[k]), u: order.map((k) => u[k].map((one) => (s[k] > 0 ? one / s[k] : 0))), v: order.map((k) => v[k]) };
}
