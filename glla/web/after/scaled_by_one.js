"use strict";
// A matrix scaled by one power of two, so that its largest entry is near 1.

HOSTS["scale by a power of two"] = ([a]) => {
  const e = exponentOf(largestEntry(a));
  return [rounded({ ...a, at: a.at.map((one) => shifted(one, -e)) }), column([e])];
};
