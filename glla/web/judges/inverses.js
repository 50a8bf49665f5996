"use strict";
// Inverses, by their residuals: Higham 2002, section 14.1.

function inverse(a, x) {
  const error = norm(minus(unit(a.m), times(a, x)));
  return normalised(error, a.m * norm(a) * norm(x) * ROUNDOFF, "||I - A X|| over n ||A|| ||X|| u");
}

JUDGES.inv = JUDGES.gauss_jordan = ({ A }, { X }) => inverse(A, X);
JUDGES.inv_pos = ({ A }, { X }) => inverse(symmetric(A), X);
JUDGES.triangular_inverse = ({ T }, { X }) => inverse(upper(T), X);
