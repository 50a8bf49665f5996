"use strict";
// Sign and logarithm of a determinant. Needs judges/solved.js.

// log abs det, and by how much an error of the size that a factorisation may make moves it.
function determinant(a, sign, logarithm) {
  const factors = eliminated(a);
  const { sign: exchanges, u } = factors;
  const expected = u.reduce((sum, one) => sum + Math.log(Math.abs(one)), 0);
  const inverted = solved(factors, unit(a.m));
  const frobenius = (b) => Math.hypot(...b.at);
  const bound = THRESHOLDS.RESIDUAL_LIMIT * a.m * ROUNDOFF * frobenius(a) * frobenius(inverted) + ROUNDOFF * Math.abs(expected);
  const what = "|log abs(det) - that of float64|, over 30 n u ||A|| ||A^-1||";
  if (!(bound < 1)) return { error: 0, bound: Infinity, what: `${what}: to float32 the matrix is singular` };
  const expectedSign = u.reduce((product, one) => product * Math.sign(one), exchanges);
  if (sign !== expectedSign) return { flaw: `the sign is ${sign}, float64 says ${expectedSign}` };
  return { error: Math.abs(logarithm - expected), bound, what };
}

// Sign and logarithm from U's diagonal, the exchanges of rows, and the exponents of a scaling.
function signAndLog(u, exchanges, exponents) {
  const moved = exchanges.filter((place, i) => place !== i).length;
  const logarithm = u.reduce((sum, one) => sum + Math.log(Math.abs(one)), 0);
  const exponent = exponents.reduce((sum, one) => sum + one, 0);
  return [u.reduce((sign, one) => sign * Math.sign(one), moved % 2 ? -1 : 1), logarithm + Math.LN2 * exponent];
}

function ofResults({ m }, { diagonal, pivots, row_exponents: rows, column_exponents: columns }) {
  const [u, exchanges, ...exponents] = [diagonal, pivots, rows, columns].map(({ values }) => firstTwo(values, m));
  return signAndLog(u, exchanges, exponents.flat());
}

JUDGES.det = JUDGES.slogdet = ({ A }, results) => {
  const { sign, logabsdet } = results;
  return determinant(A, ...(sign === undefined ? ofResults(A, results) : [sign, logabsdet]));
};
