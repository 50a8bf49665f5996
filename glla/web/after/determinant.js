"use strict";
// Determinants: see `settle` in glla/operations/det.py. Needs after/care.js.

// Sign and logarithm from U's diagonal, the exchanges of rows, and the sum of the exponents of a scaling.
function signAndLog(u, exchanges, exponents) {
  const moved = exchanges.filter((place, i) => place !== i).length;
  const logarithm = u.reduce((sum, one) => sum + Math.log(Math.abs(one)), 0) + Math.LN2 * exponents;
  return [u.reduce((sign, one) => sign * Math.sign(one), moved % 2 ? -1 : 1), logarithm];
}

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
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const figures = ofDiagonal(v.at("diagonal"), n);
  const exchanges = firstTwo(v.at("exchanges"), n);
  const found = ([sign, logabsdet]) => ({ done: { sign, logabsdet }, words: [foundWords(v.player.data.operation, sign, logabsdet)] });
  if (stage === "") {
    const exponents = ["row_exponents_read", "column_exponents_read"].flatMap((name) => firstTwo(v.at(name), n));
    const farthest = largest(exponents.map(Math.abs));
    const growth = growthOf(figures, 1);
    if (!(farthest <= THRESHOLDS.NEAR_ONE)) return { go: "care", because: `rows or columns had to be scaled by 2^${farthest}, beyond 2^40` };
    if (grew(growth, n)) return { go: "care", because: grewWords(growth, n) };
    const { done, words } = found(signAndLog(figures.u, exchanges, sum(exponents)));
    return { done, words: [...words, `Entries grew ${short(growth)} times (up to ${short(allowedGrowth(n))} is usual).`] };
  }
  const growth = growthOf(figures, largestEntry(v.matrix("scaled A")));
  if (stage === "care" && grew(growth, n)) return { go: "complete pivoting", because: grewWords(growth, n) };
  if (growth === Infinity) return found([NaN, Infinity]);
  const total = sum(Array.from(v.at("row exponents"))) + sum(Array.from(v.at("column exponents")));
  const [sign, logarithm] = signAndLog(figures.u, exchanges, total);
  return found([sign * (stage === "complete pivoting" ? parity(v.at("order")) : 1), logarithm]);
};

function foundWords(operation, sign, logarithm) {
  if (operation === "det") return `The determinant is ${short(Math.fround(sign * Math.exp(logarithm)))}.`;
  return `The sign is ${short(sign)}, the logarithm of the magnitude ${short(Math.fround(logarithm))}.`;
}
