"use strict";
// Sign and logarithm of a determinant. Needs judges/elimination.js and Needs judges/pairs.js.

// log abs det, and by how much an error of the size that a factorisation may make moves it.
function determinant(a, sign, logarithm) {
  const { sign: exchanges, u, solve } = eliminated(a);
  const expected = u.reduce((sum, one) => sum + Math.log(Math.abs(one)), 0);
  const inverted = solve(unit(a.m));
  const frobenius = (b) => Math.hypot(...b.at);
  const bound = RESIDUAL_LIMIT * a.m * ROUNDOFF * frobenius(a) * frobenius(inverted) + ROUNDOFF * Math.abs(expected);
  const what = "|log abs(det) - that of float64|, over 30 n u ||A|| ||A^-1||";
  if (!(bound < 1)) return { error: 0, bound: Infinity, what: `${what}: to float32 the matrix is singular` };
  const expectedSign = u.reduce((product, one) => product * Math.sign(one), exchanges);
  if (sign !== expectedSign) return { flaw: `the sign is ${sign}, float64 says ${expectedSign}` };
  return { error: Math.abs(logarithm - expected), bound, what };
}

function signAndLogarithm(a, { diagonal, pivots, row_exponents: rows, column_exponents: columns }) {
  const u = pairs(diagonal, a.m);
  const exchanged = pairs(pivots, a.m).filter((place, i) => place !== i).length;
  const exponents = [rows, columns].flatMap((one) => pairs(one, a.m)).reduce((sum, one) => sum + one, 0);
  const sign = u.reduce((product, one) => product * Math.sign(one), exchanged % 2 ? -1 : 1);
  return [sign, u.reduce((sum, one) => sum + Math.log(Math.abs(one)), 0) + Math.log(2) * exponents];
}

JUDGES.det = JUDGES.slogdet = ({ A }, results) => {
  const { sign, logabsdet } = results;
  return determinant(A, ...(sign === undefined ? signAndLogarithm(A, results) : [sign, logabsdet]));
};
