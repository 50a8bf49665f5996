"use strict";
// Turns of a loop of a plan, until a texel says stop. A page whose plans have no loop goes without this.

// Carried results and operands take turns: `names` has the texture that a slot is now, where that is not its own.
Player.prototype.turns = function* (plan, loop, names, entry) {
  for (let turn = 0; turn < loop.most; turn++) {
    for (let k = loop.first; k < loop.end; k++) yield entry(k, turn);
    const stop = loop.until !== null && this.read(plan, names[loop.until] ?? loop.until).values[0] !== 0;
    if (stop || turn === loop.most - 1) break;
    const before = { ...names };
    for (const [result, operand] of Object.entries(loop.carry)) {
      const free = before[operand] ?? operand;
      names[operand] = before[result] ?? result;
      names[result] = free === operand ? `${result}'` : free;  // what came in from outside stays as it is
    }
  }
  for (const operand of Object.values(loop.carry)) delete names[operand];
};
