"use strict";
// A judgement by the worst of errors beside their bounds, entry by entry.

function worst(errors, bounds, what) {
  const ratios = Array.from(errors, (one, k) => quotient(one, bounds[k]));
  const place = ratios.indexOf(largest(ratios));
  return { error: errors[place] ?? 0, bound: bounds[place] ?? 0, what };
}
