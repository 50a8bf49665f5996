"use strict";
// Triangular systems and inverses: see `settle` in glla/operations/triangles/solve_triangular.py.


// Substitution in float64; each row of the solution is rounded to float32 before it is used.
HOSTS["substitute in float64"] = ([t, b]) => {
  const x = made(t.n, (b ?? t).n, (i, j) => (b ? b.at[i * b.n + j] : Number(i === j)));
  for (let j = 0; j < x.n; j++) {
    for (let i = t.n - 1; i >= 0; i--) {
      let sum = x.at[i * x.n + j];
      for (let k = i + 1; k < t.n; k++) sum -= t.at[i * t.n + k] * x.at[k * x.n + j];
      sum /= t.at[i * t.n + i];
      x.at[i * x.n + j] = Number.isFinite(Math.fround(sum)) ? Math.fround(sum) : sum;
    }
  }
  return [rounded(x)];
};

SETTLE.solve_triangular = SETTLE.triangular_inverse = (stage, v) => {
  if (stage !== "") return { done: {} };
  const place = v.at("diagonal").indexOf(0);
  if (place >= 0) return { error: `SingularMatrixError: the triangle is zero at place ${place} of its diagonal` };
  const sizes = ["T", "B", "X"].filter((name) => v.has(`largest_${name}`)).map((name) => [name, v.number(`largest_${name}`)]);
  const [, ofX] = sizes.at(-1);
  const fallback = (because) => ({ go: "fallback", because });
  if (!Number.isFinite(ofX)) return fallback("the solution is not finite");
  const given = sizes.slice(0, -1).every(([, size]) => size !== 0);
  const small = sizes.find(([, size]) => size < THRESHOLDS.TINY);
  return given && small ? fallback(`the largest entry of ${small[0]} is ${short(small[1])}, near float32's limits`) : { done: {} };
};
