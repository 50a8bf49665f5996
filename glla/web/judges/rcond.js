"use strict";
// The reciprocal condition number in the 1-norm: between the true value and ten times it. Needs judges/solved.js.

const OVERESTIMATE = 10;

function reciprocalCondition(a) {
  const condition = norm(a) * norm(solved(eliminated(a), unit(a.m)));
  return condition > 0 && Number.isFinite(condition) ? 1 / condition : 0;
}

function condition(a, found) {
  const exact = reciprocalCondition(a);
  const error = found === exact ? 0 : Math.max(exact - found, found / OVERESTIMATE - exact, 0);
  return { error, bound: 2 * THRESHOLDS.RESIDUAL_LIMIT * a.m * ROUNDOFF, what: `the distance of ${short(found)} from the range r to 10 r, r = ${short(exact)} in float64,` };
}

JUDGES.rcond = ({ A }, { rcond }) => condition(A, rcond);
