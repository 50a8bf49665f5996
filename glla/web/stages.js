"use strict";
// Which plan comes after another: what glla's operations decide in `settle`, from the values that a plan has given.
//
// A decision is one of
//     {go: "fallback", because: "entries grew 57 times", given: {"X so far": ...}}   another plan, and values for it
//     {error: "SingularMatrixError: pivot 3 is 0"}                               what a call raises
//     {done: {X: matrix}, words: ["..."]}                                        what a call gives, and what to say of it

// By the name of the operation: (stage, values) -> decision. They stand in the files of after/, beside those of HOSTS.
const SETTLE = {};

// By its words: what a step of the host does, (arrays, player) -> arrays. All of them are matrices {m, n, at}.
const HOSTS = {};

// What is known in a call: operands and results by name, and what decisions have given.
class Values {
  constructor(player) {
    this.player = player;
  }

  // What a decision gave.
  given(name) {
    return this.player.known[name]?.value;
  }

  // A matrix as it is, what is none as a row of the numbers of its texels.
  matrix(name) {
    const { plan, slot, value } = this.player.known[name];
    if (value) return value;
    const texels = this.player.read(plan, slot);
    const { shape, values } = unpacked(this.player.storage(plan, slot), texels);
    return shape ? wide({ shape, values }) : row(values);
  }

  // Its numbers.
  at(name) {
    return this.matrix(name).at;
  }

  // The first of them.
  number(name) {
    return this.at(name)[0];
  }

  has(name) {
    return name in this.player.known;
  }
}

// What comes after a plan: the next one, or null. What was decided stays as `player.settled`.
function next(player, plan) {
  const { plans, judge } = player.data;
  player.settled = null;
  if (plans[plan].stage === undefined) {
    return plans[plan + 1]?.stage === "" ? { plan: plan + 1, because: "", given: {} } : null;
  }
  if (!finite(Object.values(operandsOf(player))) || !SETTLE[judge]) return null;
  const decision = SETTLE[judge](plans[plan].stage, new Values(player));
  player.settled = decision;
  if (!decision.go) return null;
  const number = plans.findIndex(({ stage }) => stage === decision.go);
  if (number < 0) {
    player.settled = { elsewhere: `A call would go on with “${decision.go}”, because ${decision.because}; that plan is too long for a page.` };
    return null;
  }
  return { plan: number, because: decision.because, given: decision.given ?? {} };
}

// -- numbers --------------------------------------------------------------------------------------------------------

const words = new DataView(new ArrayBuffer(8));

// The exponent of a number: it is 2^e times something from 1/2 to 1. That of 0 is 0.
function exponentOf(number) {
  if (!number || !Number.isFinite(number)) return 0;
  words.setFloat64(0, number);
  const biased = (words.getUint16(0) >> 4) & 0x7ff;
  return biased ? biased - 1022 : exponentOf(number * 2 ** 200) - 200;
}

// number 2^e, in two halves, since 2^e itself may not fit.
function shifted(number, e) {
  const half = Math.trunc(e / 2);
  return number * 2 ** half * 2 ** (e - half);
}

const rounded = (a) => ({ ...a, at: Float32Array.from(a.at) });
const column = (numbers) => ({ m: numbers.length, n: 1, at: Float64Array.from(numbers) });
const row = (numbers) => ({ m: 1, n: numbers.length, at: Float64Array.from(numbers) });
