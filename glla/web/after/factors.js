"use strict";
// Factors with other pivotings: see `settle` in glla/operations/elimination/plu.py. Needs after/acceptance.js, Needs after/scaled_by_one.js
// and Needs judges/factors.js.

const TURNS = ["partial", "harmonic", "geometric"];

// Packed factors on the host, and how good they are.
function packedFactors(a, lu, exchanges) {
  const { error } = factors(a, lu, exchanges);
  const growth = largestEntry(upper(lu)) / Math.max(largestEntry(a), THRESHOLDS.NORMAL);
  return { lu, exchanges, growth, residual: Number.isFinite(error) ? error : Infinity };
}

SETTLE.plu = SETTLE.lu_factor = (stage, v) => {
  const { m, n } = v.matrix("A");
  const exchanges = firstTwo(v.at("exchanges"), Math.min(m, n));
  if (stage === "") return asCalled(v, Math.min(m, n), exchanges);
  const turns = v.given("turns") ?? TURNS;
  const instead = `partial pivoting instead of ${turns[0]}`;
  if (turns[0] !== "partial" && stage !== instead) {
    const health = v.at("health_read");
    const [ratio, size] = [0, 1].map((channel) => Array.from({ length: health.length / 4 }, (_, k) => health[4 * k + channel]));
    const good = Math.min(...ratio) >= THRESHOLDS.SMALLEST_RATIO && largest(size) <= allowedGrowth(Math.min(m, n)) * v.number("largest_A");
    if (!good) return { go: instead, because: `the block norms found no good pivots: the smallest is ${short(Math.min(...ratio))} of its columns`, given: { turns } };
  }
  const packed = packedFactors(v.matrix("scaled A"), v.matrix("packed LU"), exchanges);
  const before = v.given("best");
  const best = before && before.residual <= packed.residual ? before : packed;
  if (best.residual > THRESHOLDS.PROMISED && turns.length > 1) {
    const because = `the residual is ${short(packed.residual)}, above ${THRESHOLDS.PROMISED}`;
    return { go: `fallback, ${turns[1]} pivoting`, because, given: { turns: turns.slice(1), best } };
  }
  if (best.residual === Infinity) return { error: "NonFiniteError: the factors do not fit float32, with any pivoting" };
  const e = v.number("exponent");
  const lu = rounded(made(m, n, (i, j) => shifted(best.lu.at[i * n + j], j >= i ? e : 0)));
  const warned = best.residual > THRESHOLDS.PROMISED ? [`GrowthWarning: no pivoting keeps the residual below ${THRESHOLDS.PROMISED}; these are the best factors, of residual ${short(best.residual)}.`] : [];
  return { done: { LU: lu, piv: column(best.exchanges) }, words: warned };
};

function asCalled(v, order, exchanges) {
  const [size, most] = [v.number("largest_A"), v.number("largest_U")];
  if (size === 0) return { done: { piv: column(exchanges) } };
  if (!sizeNearOne(size)) return { go: "fallback", because: `the largest entry is ${short(size)}, beyond 2^-40 to 2^40` };
  const growth = most / size;
  if (!(growth <= allowedGrowth(order))) return { go: "fallback", because: grewWords(growth, order) };
  return { done: { piv: column(exchanges) }, words: [`Entries grew ${short(growth)} times (up to ${short(allowedGrowth(order))} is usual): accepted.`] };
}
