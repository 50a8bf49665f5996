"use strict";
// Determinants: see `settle` in glla/operations/systems/det.py. Needs after/fallback.js and Needs judges/determinant.js.

function parity(order) {
  const left = Array.from(order);
  let sign = 1;
  for (let i = 0; i < left.length; i++) {
    while (left[i] !== i) {
      const j = left[i];
      [left[i], left[j]] = [left[j], left[i]];
      sign = -sign;
    }
  }
  return sign;
}

SETTLE.det = SETTLE.slogdet = (stage, v) => {
  const { n } = v.matrix("A");
  const diag = ofDiagonal(v.at("diagonal"), n);
  const exchanges = firstTwo(v.at("exchanges"), n);
  const found = ([sign, logabsdet]) => ({ done: { sign, logabsdet }, words: [foundWords(v.player.data.operation, sign, logabsdet)] });
  if (stage === "") {
    const exponents = ["row_exponents_read", "column_exponents_read"].flatMap((name) => firstTwo(v.at(name), n));
    const farthest = largest(exponents.map(Math.abs));
    const growth = growthOf(diag, 1);
    if (!(farthest <= THRESHOLDS.NEAR_ONE)) return { go: "fallback", because: `rows or columns had to be scaled by 2^${farthest}, beyond 2^40` };
    if (grew(growth, n)) return { go: "fallback", because: grewWords(growth, n) };
    const { done, words } = found(signAndLog(diag.u, exchanges, exponents));
    return { done, words: [...words, `Entries grew ${short(growth)} times (up to ${short(allowedGrowth(n))} is usual).`] };
  }
  const growth = growthOf(diag, largestEntry(v.matrix("scaled A")));
  if (stage === "fallback" && grew(growth, n)) return { go: "complete pivoting", because: grewWords(growth, n) };
  if (growth === Infinity) return found([NaN, Infinity]);
  const [sign, logarithm] = signAndLog(diag.u, exchanges, [...v.at("row exponents"), ...v.at("column exponents")]);
  return found([sign * (stage === "complete pivoting" ? parity(v.at("order")) : 1), logarithm]);
};

function foundWords(operation, sign, logarithm) {
  if (operation === "det") return `The determinant is ${short(Math.fround(sign * Math.exp(logarithm)))}.`;
  return `The sign is ${short(sign)}, the logarithm of the magnitude ${short(Math.fround(logarithm))}.`;
}
