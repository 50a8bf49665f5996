"use strict";
// The host's part of the fallback, see glla/operations/elimination/fallback.py.
// Needs after/acceptance.js and Needs judges/elimination.js.

// Exponents that bring the largest entry of each row, then of each column, near 1.
function scaling(a) {
  const exponents = a.at.map((one) => exponentOf(one) - 1);
  const most = (count, entries) => Float64Array.from({ length: count }, (_, line) => {
    const found = entries(line).filter(([k]) => a.at[k] !== 0 && Number.isFinite(a.at[k])).map(([k, e]) => exponents[k] - e);
    return found.length ? Math.max(...found) : 0;
  });
  const across = Array.from({ length: a.n }, (_, j) => j);
  const down = Array.from({ length: a.m }, (_, i) => i);
  const rows = most(a.m, (i) => across.map((j) => [i * a.n + j, 0]));
  return { rows, columns: most(a.n, (j) => down.map((i) => [i * a.n + j, rows[i]])) };
}

// A right-hand side with its rows scaled, and its columns near 1; with the exponents of the columns.
function scaledSides(b, rows) {
  const sides = made(b.m, b.n, (i, j) => shifted(b.at[i * b.n + j], -rows[i]));
  const sizes = Array.from({ length: b.n }, (_, j) => exponentOf(largest(down(sides, j).map(Math.abs))));
  return { sides: made(b.m, b.n, (i, j) => shifted(sides.at[i * b.n + j], -sizes[j])), sizes };
}

const down = (a, j) => Array.from({ length: a.m }, (_, i) => a.at[i * a.n + j]);

// A 2^-(e_i + f_j), e, f, and B likewise; without B it is the identity.
function scaledSystem([a, b]) {
  const { rows, columns } = scaling(a);
  const scaled = rounded(made(a.m, a.n, (i, j) => shifted(a.at[i * a.n + j], -rows[i] - columns[j])));
  const { sides, sizes } = scaledSides(b ?? unit(a.n), rows);
  return [scaled, column(rows), row(columns), sides, column(sizes)];
}

HOSTS["scale rows and columns by powers of two"] = scaledSystem;
HOSTS["order of complete pivoting"] = ([a]) => {
  const { columns: order } = eliminated(a, true);
  return [rounded(made(a.m, a.n, (i, j) => a.at[i * a.n + order[j]])), column(order)];
};

// The solution of the system as it was; an error where float32 keeps not enough of it.
function scaledBack(y, sizes, columns) {
  const wide = made(y.m, y.n, (i, j) => shifted(y.at[i * y.n + j], sizes[j] - columns[i]));
  const x = rounded(wide);
  const [error, size] = [columnSums(minus(wide, { ...x, at: Float64Array.from(x.at) })), columnSums(wide)];
  const lost = error.findIndex((one, j) => Number.isFinite(one) && one > THRESHOLDS.LOST * y.m * ROUNDOFF * size[j]);
  if (lost < 0) return { done: { X: x } };
  return { error: `NonFiniteError: the solution must fit float32, the largest entry of column ${lost} is ${short(largest(down(wide, lost).map(Math.abs)))}` };
}
