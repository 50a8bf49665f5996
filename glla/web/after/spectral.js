"use strict";
// Certificates of eigenvectors and singular vectors: see glla/operations/spectral/certificate.py.

// Whether the estimates of both norms are at most 10 n u, and the largest value is a float32.
function certified(v, n) {
  const [residual, apart, square, most] = v.at("certificate");
  const part = 10 * n * 2 ** -24;
  return {
    ok: Math.sqrt(residual / 4 / (square || 0.25)) <= part && Math.sqrt(apart / 4) <= part,
    value: shifted(most, exponentOf(v.number("largest_A")) - 1),
  };
}

// What comes after a certificate that is not accepted; null after one that is.
function repeated(stage, { ok }, vectors) {
  if (ok) return null;
  if (stage === "") return { go: "by another variant", because: "the residual or the loss of orthogonality exceeds 10 n u" };
  return { error: `ConvergenceError: the ${vectors} are not accepted` };
}

SETTLE.eigh = (stage, v) => {
  const { n } = v.matrix("A");
  const found = v.has("certificate") ? certified(v, n) : { ok: true, value: 0 };
  const after = repeated(stage, found, "eigenvectors");
  if (after) return after;
  return found.value > 3.4028234663852886e38 ? { error: "NonFiniteError: an eigenvalue does not fit float32" } : { done: { w: row(v.at("w").slice(0, n)) } };
};

SETTLE.eigvalsh = SETTLE.eigh;

SETTLE.tridiagonal_pairs = (stage, v) =>
  (v.has("certificate") && repeated("last", certified(v, v.at("d").length), "eigenvectors")) || { done: {} };

SETTLE.svd = (stage, v) => {
  const { m, n } = v.matrix("A");
  const s = v.at("S").slice(0, Math.min(m, n));
  const after = v.has("certificate") ? repeated(stage, certified(v, Math.max(m, n)), "singular vectors") : null;
  if (after) return after;
  return s.every(Number.isFinite) ? { done: { S: row(s) } } : { error: "NonFiniteError: a singular value does not fit float32" };
};
