"use strict";
// The page: matrices to edit, passes to step through, textures as numbers and colours, shaders beside them, a verdict.

const TABLE = 16;  // a matrix with at most this number of rows and columns is a table; beyond, a picture and a part of it as a table
const MOST_TEXELS = 64;  // texels of what is no matrix that are listed
const MOST_KEPT = 2048;  // numbers of an operand that an address holds
const PERIOD = 900;  // milliseconds for which playing shows a pass
const at = (id) => document.getElementById(id);

// An element: el("td", {class: "on", onclick: f}, "text", child).
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const within = (value, most) => Math.max(0, Math.min(most, value));
const range = (first, end) => Array.from({ length: end - first }, (_, k) => first + k);

let data;  // the document
let player;
let position = 0;  // passes done
let scale = 1;  // largest entry of the run
let timer = null;
let dialect = false;  // shaders as sent
let edited = false;  // the first operand is neither the example nor generated
let parts = {};  // slot -> first row and column of the part of a large matrix
let operandNames = [];
let example = {};  // operands of the document, by name

// -- numbers --------------------------------------------------------------------------------------------------------

// The shortest decimal that is this float32.
function exact(value) {
  for (let digits = 1; digits <= 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(text) === value) return shortest(Number(text));
  }
  return String(value);
}

// Of 0.00001 and 1e-5 the shorter one.
function shortest(number) {
  const [plain, power] = [String(number), number.toExponential().replace("e+", "e")];
  return power.length < plain.length ? power : plain;
}

// Three digits; what has no digits is spelt out.
function cellText(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Object.is(value, -0)) return "−0";
  return short(value).replace("-", "−");
}

// How strong the colour of a value is, from -1 to 1: by its square root, so that small entries show.
function strength(value) {
  if (!Number.isFinite(value)) return 0;
  return Math.sign(value) * Math.min(1, Math.sqrt(Math.abs(value) / scale));
}

// -- textures -------------------------------------------------------------------------------------------------------

// A matrix as rows of cells, with what is drawn of it; `texel` says where an element lies, null for one of the host.
const matrixGrid = ([rows, columns], values, texel = null, drawn = null) => ({
  rows, columns, matrix: true, host: !texel, texel,
  value: (i, j) => values[i * columns + j], drawn: (i, j) => !drawn || drawn[i * columns + j] === 1,
});

const inBlocks = (i, j) => [j >> 1, i >> 1, 2 * (i & 1) + (j & 1)];  // x, y and channel in the packed layout

// A texture as such a grid; what is no matrix has a texel in each row, and its channels as columns.
function gridOf(plan, slot) {
  const storage = player.storage(plan, slot);
  const texels = player.read(plan, slot);
  const { h, w, c, values, drawn } = texels;
  if (storage.host) return matrixGrid(storage.host, values, null, drawn);
  if (storage.shape) {
    const packed = unpacked(storage, texels);
    return matrixGrid(packed.shape, packed.values, inBlocks, packed.drawn);
  }
  if (c === 1 && !storage.wrapped && !storage.int) return { ...matrixGrid([h, w], values, (i, j) => [j, i, 0], drawn), single: true };
  return {
    rows: drawn.length, columns: c, matrix: false, texel: (i, j) => [i % w, Math.floor(i / w), j],
    value: (i, j) => values[i * c + j], drawn: (i) => drawn[i] === 1,
  };
}

// On which sides a cell borders on what lies outside of a region of texels: one frame around all of it.
function frame([x, y, width, height], grid, i, j) {
  const inside = (row, column) => {
    if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns || !grid.texel) return false;
    const [tx, ty] = grid.texel(row, column);
    return tx >= x && ty >= y && tx < x + width && ty < y + height;
  };
  if (!inside(i, j)) return [];
  const sides = { fl: [i, j - 1], fr: [i, j + 1], ft: [i - 1, j], fb: [i + 1, j] };
  return Object.keys(sides).filter((side) => !inside(...sides[side]));
}

// A figure of a texture. `before` is the grid that it is compared with, `region` what was drawn of it.
function figure(entry, role, name, slot, grid, before = null, region = null) {
  const large = Math.max(grid.rows, grid.columns) > TABLE && grid.matrix;
  let missing = 0;
  for (let i = 0; i < grid.rows; i++) for (let j = 0; j < grid.columns; j++) missing += !grid.drawn(i, j);
  const kind = grid.matrix ? `${grid.rows} × ${grid.columns} ${grid.host && entry ? "array of the host" : "matrix"}` : `${grid.rows} ${grid.rows === 1 ? "texel" : "texels"} of ${grid.columns} channels`;
  const caption = el("figcaption", {}, el("b", {}, role), ` ${name === slot ? slot : `${name} = ${slot}`}`, el("small", {}, ` ${kind}`));
  const meaning = grid.matrix ? "" : meaningOf(entry, slot);
  const readout = el("p", { class: "readout", "aria-hidden": "true" }, " ");
  const shown = { grid, before, region, slot, readout };
  const none = missing === grid.rows * grid.columns;
  const made = el("figure", {}, caption);
  if (missing) made.append(el("p", { class: "note" }, none ? "not drawn yet" : `${missing} elements not drawn yet (·)`));
  if (large && !none) made.append(picture(shown), chooser(shown), readout);
  else if (!none) made.append(scrolled(`${slot}, ${kind}`, table(shown, 0, 0, grid.rows, grid.columns)), readout);
  if (meaning) made.append(el("p", { class: "note" }, `r g b a: ${meaning}.`));
  return made;
}

// What may scroll by itself, and so is reached by keys.
const scrolled = (label, child) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, child);

// What the channels of a texture mean, in the words of the shader that draws it.
function meaningOf(entry, slot) {
  const { programs } = data;
  for (const draw of data.plans[entry.plan].draws) {
    const place = draw.out.indexOf(slot.replace(/'+$/, ""));
    const words = Object.values(programs[draw.p].outputs ?? {})[place];
    if (place >= 0 && words) return words;
  }
  return "";
}

function table({ grid, before, region, readout, slot }, top, left, height, width) {
  const across = range(left, Math.min(grid.columns, left + width));
  const down = range(top, Math.min(grid.rows, top + height, grid.matrix ? Infinity : MOST_TEXELS));
  const inTexels = grid.matrix && !grid.host;
  const cell = (i, j) => {
    const [known, value] = [grid.drawn(i, j), grid.value(i, j)];
    const t = strength(value);
    const changed = known && before && !(before.drawn(i, j) && Object.is(before.value(i, j), value));
    const classes = {
      tt: inTexels && (grid.single || i % 2 === 0), tl: inTexels && (grid.single || j % 2 === 0), undrawn: !known, neg: t < 0, changed,
    };
    const names = [...Object.keys(classes).filter((name) => classes[name]), ...(region ? frame(region, grid, i, j) : [])];
    return el("td", { "data-i": i, "data-j": j, class: names.join(" "), style: `--t: ${Math.abs(t).toFixed(3)}` },
      known ? cellText(value) : "·", changed ? el("span", { class: "hidden" }, " changed") : "");
  };
  const head = el("tr", {}, el("td"), ...across.map((j) => el("th", { scope: "col" }, grid.matrix ? j : "rgba"[j])));
  const body = down.map((i) => el("tr", {}, el("th", { scope: "row" }, i), ...across.map((j) => cell(i, j))));
  const made = el("table", {
    class: grid.host ? "host" : grid.matrix ? "matrix" : "texels", "data-slot": slot, onmouseleave: () => point(readout, null),
    onmouseover: (event) => {
      const over = event.target.closest("td[data-i]");
      if (over) point(readout, grid, slot, Number(over.dataset.i), Number(over.dataset.j));
    },
  }, el("thead", {}, head), el("tbody", {}, ...body));
  if (!grid.matrix && grid.rows > MOST_TEXELS) made.append(el("caption", {}, `${grid.rows - MOST_TEXELS} more`));
  return made;
}

// Names an element and its texel, and marks the elements at the same place in other matrices.
function point(readout, grid, slot, i, j) {
  document.querySelectorAll("td.here").forEach((one) => one.classList.remove("here"));
  if (!grid) return readout.replaceChildren(" ");
  const [x, y, channel] = grid.texel?.(i, j) ?? [];
  const value = grid.drawn(i, j) ? exact(grid.value(i, j)) : "not drawn yet";
  const where = grid.matrix ? `row ${i}, column ${j}: ` : "";
  readout.textContent = `${where}${value}   ${grid.host ? "" : `texel (${x}, ${y}), channel ${"rgba"[channel]}`}`;
  if (grid.matrix) {
    document.querySelectorAll(`:is(.matrix, .host) td[data-i="${i}"][data-j="${j}"]`).forEach((one) => one.classList.add("here"));
  }
}

// -- a pass ---------------------------------------------------------------------------------------------------------

function show() {
  const entry = player.timeline[position - 1] ?? null;
  at("slider").max = player.timeline.length;
  at("slider").value = position;
  at("count").textContent = `${position} / ${player.timeline.length}`;
  at("back").disabled = position === 0;
  at("forward").disabled = position === player.timeline.length;
  document.querySelectorAll("#contents button").forEach((one) => {
    const inside = Number(one.dataset.first) < position && position <= Number(one.dataset.last);
    one.setAttribute("aria-current", inside ? "step" : "false");
  });
  if (entry === null) showOperands();
  else showPass(entry);
  showShader(entry);
  showVerdict();
  keep();
}

function showOperands() {
  player.go(0);
  head("Before the first pass", "The operands lie in textures; nothing has been drawn.");
  at("facts").replaceChildren();
  const names = data.plans[0].operands.filter((name) => player.operands[name]);
  const entry = { plan: 0 };
  at("figures").replaceChildren(...names.map((name) => figure(entry, "operand", name, name, gridOf(0, name))));
}

// What is said of a pass, to be seen and to be heard.
function head(title, words, because = "") {
  for (const [id, text] of Object.entries({ "pass-title": title, because, words })) at(id).textContent = text;
  say([`${title}.`, because, words].filter(Boolean).join(" "));
}

const ORDINALS = [null, "first", "second", "third", "fourth", "fifth"];

// Plans of a call that have begun until then: the first, and those that a decision called for.
const tries = (passes) => 1 + player.timeline.slice(0, passes).filter((one) => one.because).length;

// A transfer: its title, and what it does.
function copyOf(plan, { copy: [source, target] }) {
  if (player.storage(plan, source).host) return ["an upload", "An array of the host becomes a texture"];
  if (player.storage(plan, target).host) return ["a read-back", "A texture is read into the host's memory, which waits for the passes before"];
  return ["a copy into a buffer", "A texture, copied row by row into the buffer of a uniform block"];
}

function showPass(entry) {
  player.go(position - 1);
  const { step, draw, reads, draws, region, uniforms } = player.touched(entry);
  const before = new Map(draws.map((slot) => [slot, gridOf(entry.plan, slot)]));
  const names = new Map();
  reads.forEach(([name, slot]) => names.set(slot, [...(names.get(slot) ?? []), name]));
  const read = [...names].map(([slot, same]) => ["reads", same.join(", "), slot, gridOf(entry.plan, slot)]);
  player.go(position);
  const role = draw ? (draw.add ? "adds to" : "draws") : step.copy ? "copies to" : "makes";
  const drawn = draws.map((slot) => [role, slot, slot, gridOf(entry.plan, slot)]);
  const program = draw ? data.programs[draw.p] : null;
  const plan = data.plans[entry.plan];
  const [name, words] = program ? [program.name, program.summary] : step.copy ? copyOf(entry.plan, step) : ["a step of the host", `The host: ${step.host}`];
  const because = entry.because && `The ${ORDINALS[tries(position)] ?? "next"} plan, “${plan.name}”, because ${entry.because}.`;
  head(`Pass ${position}: ${name}`, `${words}.`, because);
  const list = (values = {}) => Object.entries(values).map(([name, value]) => `${name} = ${Array.isArray(value) ? `(${value.join(", ")})` : value}`).join(", ");
  const scopes = plan.scopes.filter(([, , first, end]) => first <= entry.step && entry.step < end);
  const facts = Object.entries({
    plan: plan.name,
    in: scopes.map(([name, number]) => (number === null ? name : `${name} ${number}`)).join(", "),
    turn: entry.turn === null ? "" : String(entry.turn),
    region: region ? `texels x ${region[0]} to ${region[0] + region[2] - 1}, y ${region[1]} to ${region[1] + region[3] - 1}` : "",
    uniforms: list(uniforms), step: step.s, defines: list(program?.defines), "cost per fragment": program?.cost,
  }).filter(([, value]) => value);
  at("facts").replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  // A texture is compared with the one of its size that was read, as in a ping-pong, or with what it held itself.
  const size = (grid) => `${grid.rows} ${grid.columns} ${grid.matrix}`;
  const all = [...read, ...drawn.map(([role, name, slot, grid]) => {
    const partner = draw?.add ? null : read.find(([, , , one]) => grid.matrix && size(one) === size(grid));
    return [role, name, slot, grid, partner?.[3] ?? (draw ? before.get(slot) : null), region];
  })];
  if (draw) all.sort(([, , , a], [, , , b]) => b.matrix - a.matrix);
  at("figures").replaceChildren(...all.map((one) => figure(entry, ...one)));
}

function showShader(entry) {
  const draw = entry && player.touched(entry).draw;
  at("shader").hidden = !draw;
  if (!draw) return;
  const program = data.programs[draw.p];
  const stages = [["vertex stage", program.v, ".vert"], ["fragment stage", program.f, ".frag"]];
  at("dialect").textContent = dialect ? "Show the files as written" : "Show GLSL ES 3.00 as sent";
  at("dialect").setAttribute("aria-pressed", String(dialect));
  at("stages").replaceChildren(...stages.map(([name, text, suffix]) => {
    const files = data.texts[text].filter((part) => typeof part !== "string").map(([file]) => file);
    const main = files.findLast((file) => file.endsWith(suffix)) ?? files.at(-1);
    const title = dialect ? `${name}, as sent` : `${name}: ${main}`;
    const code = el("pre", { tabindex: "0", role: "region", "aria-label": title }, ...coloured(dialect ? player.texts[text] : data.sources[main]));
    return el("details", { open: suffix === ".frag" || main !== "fullscreen.vert" }, el("summary", {}, title), code);
  }));
}

// GLSL with its comments set apart.
function coloured(text) {
  return text.split(/(\/\/[^\n]*)/).map((part, k) => (k % 2 ? el("i", {}, part) : part));
}

function showVerdict() {
  const end = player.timeline.at(-1);
  const done = position === player.timeline.length && end;
  at("verdict").hidden = !done;
  if (!done) return;
  const { ok, words, mark = { true: "✓ right", false: "✗ not right", null: "not judged" }[ok] } = verdict(player);
  at("mark").textContent = mark;
  at("mark").className = ok === null ? "" : ok ? "good" : "bad";
  at("judgement").textContent = words;
  at("results").replaceChildren(...(player.settled?.error ? [] : resultFigures()));
  const sentences = outcome(player);
  if (player.cut) sentences.unshift("The page stops here: the loop has not ended.");
  at("outcome").replaceChildren(...sentences.map((one) => el("li", {}, one)));
  at("after").hidden = !data.after.length;
}

// The results that are matrices, wherever they were found.
function resultFigures() {
  const results = resultsOf(player);
  const names = [...new Set([...Object.keys(data.plans[0].results), "X"])].filter((name) => results[name]?.at);
  return names.map((name) => {
    const { m, n, at: values } = results[name];
    return figure(null, "result", name, name, matrixGrid([m, n], values));
  });
}

// -- going to and fro -----------------------------------------------------------------------------------------------

function go(number) {
  position = within(number, player.timeline.length);
  show();
}

function pause() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "Play";
}

function play() {
  if (timer !== null) return pause();
  if (position === player.timeline.length) go(0);
  at("play").textContent = "Pause";
  timer = setInterval(() => {
    go(position + 1);
    if (position === player.timeline.length) pause();
  }, PERIOD);
}

const stop = (number) => {
  pause();
  go(number);
};

let said = 0;

// Tells a screen reader, at most once a second while playing.
function say(words) {
  if (timer !== null && Date.now() - said < 1000 && position < player.timeline.length) return;
  said = Date.now();
  at("status").textContent = words;
}

// The loops as a table of contents.
function showContents() {
  const items = [];
  const add = (name, first, depth, count) => items.push(el("li", { style: `--depth: ${depth}` },
    el("button", { "data-first": first, "data-last": first + count, onclick: () => stop(first + 1) },
      name, el("small", {}, count > 1 ? ` ${first + 1} to ${first + count}` : ` ${first + 1}`))));
  player.timeline.forEach((entry, place) => {
    const { name, scopes } = data.plans[entry.plan];
    if (entry.operands) {
      const later = player.timeline.findIndex((one, other) => other > place && one.operands);
      add(name, place, 0, (later < 0 ? player.timeline.length : later) - place);
    }
    const inside = (k) => scopes.filter(([, , a, b], other) => other < k && a <= scopes[k][2] && scopes[k][3] <= b).length;
    scopes.forEach(([scope, number, first, last], k) => {
      const turn = entry.turn === null ? "" : `, turn ${entry.turn}`;
      if (first === entry.step) add(`${number === null ? scope : `${scope} ${number}`}${turn}`, place, 1 + inside(k), last - first);
    });
  });
  at("contents").replaceChildren(...items);
}

// -- matrices to edit -----------------------------------------------------------------------------------------------

const copied = ({ shape, values }) => ({ shape, values: Float32Array.from(values) });

// Runs with the operands as they are, and stays at the pass.
function rerun() {
  player.run();
  const results = resultsOf(player);
  const shown = [...Object.values(player.operands).map((one) => one.values), ...Object.keys(data.plans[0].results).map((name) => results[name]?.at ?? [])];
  scale = shown.reduce((most, numbers) => numbers.reduce((some, one) => (Math.abs(one) < Infinity ? Math.max(some, Math.abs(one)) : some), most), 0) || 1;
  showContents();
  go(position);
}

function take(name, matrix, own) {
  edited = own;
  player.set({ [name]: matrix });
  showOperandTables();
  rerun();
}

function showOperandTables() {
  at("operands").replaceChildren(...operandNames.map((name) => {
    const { shape: [rows, columns], values } = player.operands[name];
    const caption = el("figcaption", {}, el("b", {}, name), el("small", {}, ` ${rows} × ${columns}`));
    if (Math.max(rows, columns) > TABLE) return el("figure", {}, caption, el("p", { class: "note" }, `A matrix above ${TABLE} × ${TABLE} is chosen or pasted below, not typed.`));
    const body = range(0, rows).map((i) => el("tr", {}, ...range(0, columns).map((j) => (
      el("td", { class: `${i % 2 ? "" : "tt"} ${j % 2 ? "" : "tl"}` }, el("input", {
        value: exact(values[i * columns + j]), inputmode: "decimal", size: 5, "data-i": i, "data-j": j, autocomplete: "off", "aria-describedby": "complaint",
        "aria-label": `${name}, row ${i}, column ${j}`, onchange: (event) => change(event.target, name), onkeydown: wander,
      }))))));
    const width = Math.max(6, ...Array.from(values, (one) => exact(one).length));
    return el("figure", {}, caption, el("div", { class: "scroll" }, el("table", { class: "edit", style: `--width: ${width}ch` }, el("tbody", {}, ...body))));
  }));
}

// A number as a person writes it, as a float32; null for what is none, and for what float32 cannot hold.
function parsed(text) {
  const plain = text.trim().replace("−", "-").replace("∞", "Infinity").replace(/^([+-]?)inf$/i, "$1Infinity");
  if (/^nan$/i.test(plain)) return NaN;
  const fraction = plain.match(/^([^/]+)\/([^/]+)$/);
  const number = Math.fround(fraction ? Number(fraction[1]) / Number(fraction[2]) : Number(plain));
  return plain === "" || Number.isNaN(number) || (Math.abs(number) === Infinity && !/^[+-]?Inf/.test(plain)) ? null : number;
}

function change(input, name) {
  const value = parsed(input.value);
  input.setAttribute("aria-invalid", String(value === null));
  at("complaint").textContent = value === null ? `${input.getAttribute("aria-label")}: a float32 is wanted, such as 2.5, -1e3 or 1/3.` : "";
  if (value === null) return;
  const matrix = copied(player.operands[name]);
  matrix.values[Number(input.dataset.i) * matrix.shape[1] + Number(input.dataset.j)] = value;
  edited = true;
  player.set({ [name]: matrix });
  input.value = exact(value);
  const { style } = input.closest("table");
  style.setProperty("--width", `${Math.max(parseInt(style.getPropertyValue("--width")), input.value.length)}ch`);
  rerun();
}

// Enter and arrows move among the cells; to the side only from the end of the text.
function wander(event) {
  const { target: input, key } = event;
  const moves = {
    Enter: [1, 0], ArrowDown: [1, 0], ArrowUp: [-1, 0],
    ArrowLeft: input.selectionEnd === 0 && [0, -1], ArrowRight: input.selectionStart === input.value.length && [0, 1],
  };
  if (!moves[key]) return;
  const [i, j] = [Number(input.dataset.i) + moves[key][0], Number(input.dataset.j) + moves[key][1]];
  const next = input.closest("table").querySelector(`input[data-i="${i}"][data-j="${j}"]`);
  if (!next) return;  // Enter takes the number all the same
  event.preventDefault();
  next.focus();
  next.select();
}

// Random numbers from 0 to 1 by a seed: mulberry32.
function randoms(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Matrices by name: (i, j, m, n, random) -> entry. Those that an operation is for keep its form, see `generated`.
const GENERATORS = {
  random: (i, j, m, n, random) => 10 * random(),
  "random integers": (i, j, m, n, random) => Math.floor(19 * random()) - 9,
  Hilbert: (i, j) => 1 / (i + j + 1),
  singular: (i, j, m, n, random) => Math.floor(9 * random()) + 1,
  graded: (i, j, m, n, random) => (random() + 0.5) * 10 ** (-3 * i * (i === j ? 1 : 0.5)),
  identity: (i, j) => Number(i === j),
  growth: (i, j, m, n) => (j === n - 1 || i === j ? 1 : i > j ? -1 : 0),
  zero: () => 0,
};

function generated(kind, seed, { shape: [m, n], values }) {
  const random = randoms(seed);
  const place = (k) => [Math.floor(k / n), k % n];
  let entries = Array.from(values, (_, k) => GENERATORS[kind](...place(k), m, n, random));
  const entry = (i, j) => entries[i * n + j];
  if (kind === "singular" && m > 1) for (const j of range(0, n)) entries[(m - 1) * n + j] = entry(0, j) + (m > 2 ? entry(1, j) : 0);
  const all = (test) => m === n && values.every((one, k) => test(...place(k), one));
  if (all((i, j, one) => one === values[j * n + i])) {
    const square = (i, j) => range(0, n).reduce((sum, l) => sum + (entry(l, i) * entry(l, j)) / n, Number(i === j && kind !== "singular"));
    if (!["identity", "zero", "Hilbert"].includes(kind)) entries = entries.map((_, k) => square(...place(k)));  // A^T A + 1
  } else {
    for (const kept of [(i, j) => i <= j, (i, j) => i >= j]) {
      if (all((i, j, one) => kept(i, j) || one === 0)) entries = entries.map((one, k) => (kept(...place(k)) ? one : 0));
    }
  }
  return { shape: [m, n], values: Float32Array.from(entries) };
}

function generate() {
  const kind = at("kind").value;
  const seed = at("seed").valueAsNumber || 0;
  const name = at("which").value;
  const others = operandNames.length > 1 && (edited || name !== operandNames[0]);  // an address has one kind and one seed
  take(name, kind === "example" ? copied(example[name]) : generated(kind, seed, example[name]), others);
}

// Takes rows of numbers; a matrix of another size needs another page, since a plan is made for one size.
function paste() {
  const rows = at("pasted").value.trim().split(/\n/).map((line) => line.trim().split(/[\s,;]+/).map(parsed));
  const name = at("which").value;
  const { shape: [m, n] } = player.operands[name];
  const wrong = rows.flat().includes(null) ? "numbers are wanted, apart by blanks or commas"
    : rows.length !== m || rows.some((row) => row.length !== n) ? `${m} rows of ${n} numbers are wanted: this plan is for that size` : "";
  at("complaint").textContent = wrong ? `${name}: ${wrong}.` : "";
  at("pasted").setAttribute("aria-invalid", String(Boolean(wrong)));
  if (!wrong) take(name, { shape: [m, n], values: Float32Array.from(rows.flat()) }, true);
}

// -- the address ----------------------------------------------------------------------------------------------------

const encoded = ({ values }) => btoa(String.fromCharCode(...new Uint8Array(values.buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// Keeps pass and matrix in the address, so that it can be sent.
function keep() {
  const state = new URLSearchParams({ pass: position });
  if (edited) operandNames.forEach((name) => player.operands[name].values.length <= MOST_KEPT && state.set(name, encoded(player.operands[name])));
  else if (at("kind").value !== "example") state.set("kind", at("kind").value), state.set("seed", at("seed").value);
  try {
    history.replaceState(null, "", `#${state}`);
  } catch {
    // the page is shown in a frame that has no address
  }
}

// What an address says; what it does not say is as at first.
function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  const operands = Object.fromEntries(operandNames.map((name) => [name, copied(example[name])]));
  const kind = state.get("kind");
  const known = Object.hasOwn(GENERATORS, kind);
  at("kind").value = known ? kind : "example";
  at("seed").value = state.get("seed") ?? 7;
  if (known) operands[operandNames[0]] = generated(kind, Number(at("seed").value) || 0, example[operandNames[0]]);
  edited = false;
  for (const name of operandNames) {
    const text = state.get(name);
    if (!text) continue;
    try {
      const { values } = decoded({ data: text.replace(/-/g, "+").replace(/_/g, "/") });
      if (values.length !== operands[name].values.length) throw new RangeError("another size");
      operands[name].values = values;
      edited = true;
    } catch {
      at("complaint").textContent = `The address holds no matrix ${name} of this size; the example is shown.`;
    }
  }
  position = Math.trunc(state.get("pass") ?? 1) || 0;
  player.set(operands);
  showOperandTables();
  rerun();
}

// -- beginning ------------------------------------------------------------------------------------------------------

function lack(error) {
  at("lack").hidden = false;
  at("lack-words").textContent = error instanceof Lack ? error.message : `The passes do not run here: ${error.message}`;
  document.querySelectorAll(".live").forEach((one) => (one.hidden = true));
  for (const [name, one] of Object.entries(JSON.parse(at("pictures").textContent))) {
    const { shape, values } = decoded(one);
    scale = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    at("picture").append(figure(null, "result", name, name, matrixGrid(shape, values, inBlocks)));
    if (one.of.some((side, k) => side > shape[k])) at("picture").append(el("p", { class: "note" }, `Rows and columns 0 to ${TABLE - 1} of ${one.of.join(" × ")}.`));
  }
}

function begin() {
  const canvas = at("gl");
  player = new Player(canvas, data);
  player.decide = next;
  player.hosts = HOSTS;
  const debug = player.gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = player.gl.getParameter(debug ? debug.UNMASKED_RENDERER_WEBGL : player.gl.RENDERER);
  const software = /swiftshader|llvmpipe|softpipe|basic render|software/i.test(renderer);
  at("renderer").textContent = `${renderer}${software ? " (a software rasteriser: right, but not fast)" : ""}`;
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    at("status").textContent = "The browser has lost the graphics context; it will be made again.";
  });
  recall();
}

// Bytes of a text in base 85, see packed in page.py: five digits for four bytes.
function bytesOf(text) {
  const digits = Array.from(text, (letter) => (letter === "v" ? 27 : letter.charCodeAt(0) - 33));
  const view = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let i = 0; i < text.length; i += 5) {
    view.setUint32((i / 5) * 4, [0, 1, 2, 3, 4].reduce((sum, k) => 85 * sum + (digits[i + k] ?? 84), 0));
  }
  return view.buffer.slice(0, Math.floor((text.length * 4) / 5));
}

// The document of the page: JSON, deflated, in base 85.
async function unpackedDocument() {
  if (!window.DecompressionStream) throw new Lack("This browser cannot unpack the page (DecompressionStream); those of 2023 and later can.");
  return new Response(new Blob([bytesOf(at("data").textContent)]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

async function start() {
  data = await unpackedDocument();
  operandNames = Object.keys(data.operands);
  example = Object.fromEntries(operandNames.map((name) => [name, decoded(data.operands[name])]));
  at("kind").append(...["example", ...Object.keys(GENERATORS)].map((name) => el("option", { value: name }, name)));
  at("which").append(...operandNames.map((name) => el("option", { value: name }, name)));
  at("which-label").hidden = operandNames.length < 2;
  at("after-list").append(...data.after.map(({ stage, when, then }) => el("li", {}, `${stage ? `After ${stage}: if` : "If"} ${when}: ${then}.`)));
  const handlers = {
    back: () => stop(position - 1), forward: () => stop(position + 1), play, make: generate, "take-pasted": paste,
    dialect: () => {
      dialect = !dialect;
      showShader(player.timeline[position - 1] ?? null);
    },
  };
  for (const [id, handler] of Object.entries(handlers)) at(id).addEventListener("click", handler);
  at("slider").addEventListener("input", () => stop(at("slider").valueAsNumber));
  document.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => stop(position - 1), ArrowRight: () => stop(position + 1), " ": play,
      Home: () => stop(0), End: () => stop(player.timeline.length),
    };
    const typing = event.target.closest?.("input, select, textarea, summary, pre, .scroll") || (event.key === " " && event.target.closest?.("button, a"));
    if (typing || !(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  addEventListener("hashchange", recall);
  addEventListener("message", (event) => (root.dataset.theme = event.data, show()));
  at("gl").addEventListener("webglcontextrestored", () => {
    const kept = position;
    begin();
    go(kept);
  });
  begin();
}

const ready = start().catch(lack);
