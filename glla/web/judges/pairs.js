"use strict";
// The first two channels of a line of texels, one after the other: a number for each row.
function pairs({ values, c }, count) {
  const found = [];
  for (let k = 0; k < values.length && found.length < count; k += c) found.push(values[k], values[k + 1]);
  return found.slice(0, count);
}
