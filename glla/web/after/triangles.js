"use strict";
// Triangular systems and inverses: see `settle` in glla/operations/triangles/solve_triangular.py.
// Needs after/rounded_rows.js.

HOSTS["substitute in float64"] = ([t, b]) => [rounded(inRoundedRows(t, b ?? unit(t.n)))];

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
