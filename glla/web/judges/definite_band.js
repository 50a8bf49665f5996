"use strict";
// Symmetric positive definite bands, as LAPACK stores those on and above the diagonal. Needs judges/solutions.js,
// Needs judges/substitutions.js and Needs judges/cholesky.js.

function ofUpperBand(a) {
  const width = a.m - 1;
  return made(a.n, a.n, (i, j) => (j >= i && j - i <= width ? a.at[(width + i - j) * a.n + j] : 0));
}

const ofSymmetricBand = (a) => symmetric(transposed(ofUpperBand(a)));

JUDGES.cholesky_banded = ({ A }, { L }) => {
  const corner = L.at.some((one, k) => k % L.n < L.m - 1 - Math.floor(k / L.n) && one !== 0);
  if (corner) return { flaw: "the corners of the factor's storage are not zero" };
  return cholesky(ofSymmetricBand(A), transposed(ofUpperBand(L)));
};

JUDGES.solve_pos_banded = ({ A, B }, { X }) => solution(ofSymmetricBand(A), X, B);

// By its factor U, A = U^T U.
JUDGES.cho_solve_banded = ({ C, B }, { X }) => substituted(transposed(ofUpperBand(C)), ofUpperBand(C), X, B);
