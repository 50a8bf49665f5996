"use strict";
// The passes of a plan, run by WebGL 2. Nothing of the page is known here.
//
//     player = new Player(canvas, data)     compiles the programs of a document, see glla/web/documents.py
//     player.set({A: {shape, values}})      operands
//     player.run()                          runs the plans, and finds out how many passes there are: player.timeline
//     player.go(6)                          what the textures held after six passes
//     player.read(plan, slot)               {h, w, c, values, drawn}: the texels, and which of them a pass has drawn
//
// Going back is running again from the operands: the same passes on the same numbers give the same bits.

const CHANNELS = { 1: "R", 2: "RG", 4: "RGBA" };  // names of formats, by the channels of a texel
const MOST_ENTRIES = 2000;  // of a timeline: a loop whose stop never comes ends here

class Lack extends Error {}  // what this browser does not have

const THRESHOLDS = {};  // of results that stand, by the names of glla/operations/acceptance.py; a document brings them

class Player {
  constructor(canvas, data) {
    this.data = data;
    Object.assign(THRESHOLDS, data.thresholds);
    this.decide = () => null;  // (player, number of the plan that has run) -> the next {plan, because, given}, or null
    this.hosts = {};  // words -> what a step of the host does: (arrays, options) -> arrays; all are {m, n, at}
    this.gl = canvas.getContext("webgl2", { antialias: false, depth: false, alpha: false });
    if (!this.gl) throw new Lack("This browser has no WebGL 2, or it is switched off.");
    const lacks = Player.lacks(this.gl, data.needs);
    if (lacks.length) throw new Lack(lacks.join(" "));
    this.gl.bindVertexArray(this.gl.createVertexArray());  // no pass has vertex attributes
    this.gl.disable(this.gl.DITHER);
    this.gl.blendFunc(this.gl.ONE, this.gl.ONE);
    this.texts = data.texts.map((parts) => textOf(data, parts));
    this.programs = this.compiled();
    this.store = new Map();  // "plan slot" -> texture, buffer, or array of the host
    this.bound = new Map();  // "plan slot" -> what another plan has made: the operands of those that come after it
    this.framebuffers = new Map();
    this.operands = {};
    this.timeline = [];
    this.position = 0;
  }

  // What a context has not that a document needs, in sentences.
  static lacks(gl, needs) {
    const found = [];
    if (!gl.getExtension("EXT_color_buffer_float")) {
      found.push("This browser cannot draw into textures of float32 (EXT_color_buffer_float).");
    }
    if (needs.blend && !gl.getExtension("EXT_float_blend")) {
      found.push("This browser cannot add to textures of float32 (EXT_float_blend); another variant does without.");
    }
    const limits = [
      ["targets", gl.MAX_DRAW_BUFFERS, "targets of a pass"],
      ["texture", gl.MAX_TEXTURE_SIZE, "texels along the side of a texture"],
      ["units", gl.MAX_TEXTURE_IMAGE_UNITS, "textures read by a pass"],
      ["block", gl.MAX_UNIFORM_BLOCK_SIZE, "texels in a uniform block", 16],
    ];
    for (const [name, limit, words, size = 1] of limits) {
      const have = gl.getParameter(limit) / size;
      if (needs[name] > have) found.push(`This plan needs ${needs[name]} ${words}, this browser has ${have}.`);
    }
    return found;
  }

  // -- programs -----------------------------------------------------------------------------------------------

  // All are compiled before one is asked whether it links, so that the driver may compile them side by side.
  compiled() {
    const gl = this.gl;
    const made = this.data.programs.map(({ v, f }) => this.linked(this.texts[v], this.texts[f]));
    return made.map(({ program, stages }, number) => {
      if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(this.complaint(number, program, stages));
      const uniforms = {};
      const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
      for (let i = 0; i < count; i++) {
        const { name, type, size } = gl.getActiveUniform(program, i);
        const location = gl.getUniformLocation(program, name);
        if (location !== null) uniforms[name.replace("[0]", "")] = { type, size, location };
      }
      return { program, uniforms };
    });
  }

  linked(vertex, fragment) {
    const gl = this.gl;
    const program = gl.createProgram();
    const stages = [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]].map(([kind, text]) => {
      const made = gl.createShader(kind);
      gl.shaderSource(made, uncommented(text));
      gl.compileShader(made);
      gl.attachShader(program, made);
      return made;
    });
    gl.linkProgram(program);
    return { program, stages };
  }

  // What the compiler says, with the lines of its text led back to the files.
  complaint(number, program, stages) {
    const { name, v, f } = this.data.programs[number];
    const logs = [v, f].map((text, k) => {
      const log = this.gl.getShaderInfoLog(stages[k]) || "";
      return log.replace(/ERROR: 0:(\d+)/g, (_, line) => `ERROR: ${placeOf(this.data, this.data.texts[text], Number(line))}`);
    });
    return `${name} does not compile: ${logs.join("").trim() || this.gl.getProgramInfoLog(program)}`;
  }

  uniform(program, name, value) {
    const one = program.uniforms[name];
    if (one === undefined) return;  // the compiler found that nothing depends on it
    const gl = this.gl;
    const flat = Array.isArray(value) ? value : [value];
    const set = {
      [gl.INT]: "1i", [gl.INT_VEC2]: "2i", [gl.INT_VEC3]: "3i", [gl.INT_VEC4]: "4i", [gl.BOOL]: "1i", [gl.UNSIGNED_INT]: "1ui",
      [gl.FLOAT]: "1f", [gl.FLOAT_VEC2]: "2f", [gl.FLOAT_VEC3]: "3f", [gl.FLOAT_VEC4]: "4f",
    }[one.type];
    if (set) gl[`uniform${set}v`](one.location, flat.map(Number));
    else throw new Error(`The uniform ${name} is of a type that the page does not set.`);
  }

  // -- textures -----------------------------------------------------------------------------------------------

  // The texture or buffer of a slot. `slot` may be the second texture of a slot that a loop carries: "v'".
  held(plan, slot) {
    const key = `${plan} ${slot}`;
    const known = this.bound.get(key) ?? this.store.get(key);
    if (known) return known;
    const gl = this.gl;
    const storage = this.storage(plan, slot);
    let made;
    if (storage.host) {
      const size = storage.host[0] * storage.host[1];
      made = { values: new Float64Array(size), drawn: new Uint8Array(size) };
    } else if (storage.bytes !== undefined) {
      made = { buffer: gl.createBuffer(), bytes: storage.bytes, drawn: new Uint8Array(1) };
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, made.buffer);
      gl.bufferData(gl.PIXEL_PACK_BUFFER, storage.bytes, gl.DYNAMIC_COPY);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    } else {
      const { h, w, c, int } = storage;
      made = { texture: gl.createTexture(), h, w, c, int, drawn: new Uint8Array(h * w) };
      gl.bindTexture(gl.TEXTURE_2D, made.texture);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl[`${CHANNELS[c]}32${int ? "I" : "F"}`], w, h);
      for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    }
    made.number = this.store.size;
    this.store.set(key, made);
    return made;
  }

  // The framebuffer that draws into these slots.
  framebuffer(plan, slots) {
    const held = slots.map((slot) => this.held(plan, slot));
    const key = held.map(({ number }) => number).join(" ");
    const gl = this.gl;
    let made = this.framebuffers.get(key);
    if (!made) {
      made = gl.createFramebuffer();
      const textures = held.map(({ texture }) => texture);
      gl.bindFramebuffer(gl.FRAMEBUFFER, made);
      textures.forEach((texture, k) => {
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + k, gl.TEXTURE_2D, texture, 0);
      });
      gl.drawBuffers(slots.map((_, k) => gl.COLOR_ATTACHMENT0 + k));
      const status = gl.checkFramebufferStatus(gl.FRAMEBUFFER);
      if (status !== gl.FRAMEBUFFER_COMPLETE) throw new Error(`A framebuffer is not complete (0x${status.toString(16)}).`);
      this.framebuffers.set(key, made);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, made);
  }

  // Takes operands, matrices {shape, values} by name; what is not given stays. `aside` has operands as texels.
  set(operands) {
    Object.assign(this.operands, operands);
    const plan = this.data.plans[0];
    for (const name of plan.operands) {
      const given = this.operands[name];
      const storage = plan.slots[name];
      this.write(0, name, given ? laidOut(storage, given) : numbersOf(this.data.aside[name], storage.int));
    }
    this.restart();
  }

  write(plan, slot, texels) {
    const gl = this.gl;
    const { texture, h, w, c, int } = this.held(plan, slot);
    const format = (c === 1 ? "RED" : CHANNELS[c]) + (int ? "_INTEGER" : "");
    gl.bindTexture(gl.TEXTURE_2D, texture);
    const values = int ? Int32Array.from(texels) : Float32Array.from(texels);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, w, h, gl[format], int ? gl.INT : gl.FLOAT, values);
  }

  read(plan, slot) {
    const gl = this.gl;
    const one = this.held(plan, slot);
    if (one.values) {
      const [h, w] = this.data.plans[plan].slots[slot].host;
      return { h, w, c: 1, values: one.values.slice(), drawn: one.drawn.slice() };
    }
    if (one.buffer) {
      const values = new Float32Array(one.bytes / 4);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, one.buffer);
      gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, values);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      const texels = values.length / 4;
      return { h: 1, w: texels, c: 4, values, drawn: new Uint8Array(texels).fill(one.drawn[0]) };
    }
    const { h, w, c, int, drawn } = one;
    const all = int ? new Int32Array(4 * h * w) : new Float32Array(4 * h * w);
    this.framebuffer(plan, [slot]);
    gl.readPixels(0, 0, w, h, int ? gl.RGBA_INTEGER : gl.RGBA, int ? gl.INT : gl.FLOAT, all);
    const values = c === 4 ? all : all.filter((_, k) => k % 4 < c);
    return { h, w, c, values, drawn: Uint8Array.from(drawn) };
  }

  // -- passes -------------------------------------------------------------------------------------------------

  // Runs everything, and keeps what ran as the timeline.
  run() {
    this.restart();
    this.timeline = [];
    this.cut = false;
    for (const entry of this.walk()) {
      if (this.timeline.length === MOST_ENTRIES) {
        this.cut = true;
        break;
      }
      this.timeline.push(entry);
      this.perform(entry);
    }
    this.position = this.timeline.length;
  }

  // Entries one by one; each has been performed when the next is asked for, so values may decide what comes.
  *walk() {
    this.known = Object.fromEntries(this.data.plans[0].operands.map((slot) => [slot, { plan: 0, slot }]));
    let next = { plan: 0, because: "", given: {} };
    while (next) {
      const { plan, because, given } = next;
      for (const [name, value] of Object.entries(given)) this.known[name] = { value };
      yield* this.walkPlan(plan, because);
      const { results, also } = this.data.plans[plan];
      for (const [name, slot] of Object.entries({ ...also, ...results })) this.known[name] = { plan, slot: this.last(plan, slot) };
      next = this.timeline.length < MOST_ENTRIES ? this.decide(this, plan) : null;
    }
  }

  // Where the operands of a plan lie that comes after another.
  operandsOf({ operands, shared }, plan) {
    if (plan === 0) return {};
    return Object.fromEntries(operands.map((slot) => {
      const found = shared[slot] ? { plan: 0, slot: shared[slot] } : this.known[slot];
      if (!found) throw new Error(`Nothing has made the operand ${slot}.`);
      return [slot, found];
    }));
  }

  *walkPlan(plan, because) {
    const { steps, loops } = this.data.plans[plan];
    const names = {};  // slot -> the texture that it is now, where that is not its own
    let first = this.operandsOf(this.data.plans[plan], plan);
    const entry = (step, turn) => {
      const made = { plan, step, turn, names: { ...names }, because: first ? because : "", operands: first };
      first = null;
      return made;
    };
    for (let step = 0; step < steps.length; step++) {
      const loop = loops.find((one) => one.first === step);
      if (loop) {
        yield* this.turns(plan, loop, names, entry);
        step = loop.end - 1;
      } else yield entry(step, null);
    }
    this.ends = { ...this.ends, [plan]: names };
  }

  restart() {
    this.position = 0;
    this.bound.clear();
    for (const [key, one] of this.store) {
      const [plan, slot] = splitOnce(key);
      one.drawn.fill(plan === 0 && this.data.plans[plan].operands.includes(slot) ? 1 : 0);
    }
  }

  // Gives the first step of a plan the operands of that plan.
  bind({ plan, operands }) {
    for (const [name, { plan: from, slot, value }] of Object.entries(operands ?? {})) {
      this.bound.delete(`${plan} ${name}`);
      const held = this.held(from ?? plan, slot ?? name);
      if (value) held.values = value.at;
      if (value) held.drawn.fill(1);
      else this.bound.set(`${plan} ${name}`, held);
    }
  }

  // Goes to the state after a number of passes.
  go(position) {
    const wanted = Math.max(0, Math.min(this.timeline.length, position));
    if (wanted < this.position) this.restart();
    while (this.position < wanted) this.perform(this.timeline[this.position++]);
    if (wanted < this.timeline.length) this.bind(this.timeline[wanted]);
  }

  // What a step reads and draws, with the names of the textures that its slots are now.
  touched(entry) {
    const plan = this.data.plans[entry.plan];
    const step = plan.steps[entry.step];
    const now = (slot) => entry.names[slot] ?? slot;
    if (!("d" in step)) {  // of the host, or a copy
      const [reads, draws] = step.copy ? step.copy.map((slot) => [now(slot)]) : [step.in ?? [], step.out ?? [step.set]];
      return { step, reads: reads.map((slot) => [slot, slot]), draws, draw: null, region: null };
    }
    const draw = plan.draws[step.d];
    const blocks = Object.entries(step.b ?? {}).map(([name, [slot]]) => [name, now(slot)]);
    const draws = draw.out.map(now);
    const { h, w } = this.held(entry.plan, draws[0]);
    const reads = [...Object.entries(draw.in).map(([name, slot]) => [name, now(slot)]), ...blocks];
    return { step, draw, reads, draws, region: step.r ?? [0, 0, w, h], uniforms: { ...draw.u, ...step.u } };
  }

  perform(entry) {
    this.bind(entry);
    const { step, draw, reads, draws, region, uniforms } = this.touched(entry);
    if (step.host) this.host(entry.plan, step);
    else if (step.copy) this.copy(entry.plan, reads[0][1], draws[0]);
    else this.draw(entry, step, draw, draws, region, uniforms);
    this.check(entry);
  }

  check(entry) {
    const error = this.gl.getError();
    if (error) throw new Error(`Pass ${this.timeline.indexOf(entry) + 1} failed (GL error 0x${error.toString(16)}).`);
  }

  draw({ plan, names }, step, draw, draws, [x, y, width, height], uniforms) {
    const gl = this.gl;
    const program = this.programs[draw.p];
    gl.useProgram(program.program);
    this.framebuffer(plan, draws);
    gl.viewport(x, y, width, height);
    (draw.add ? gl.enable : gl.disable).call(gl, gl.BLEND);
    let unit = 0;
    for (const [sampler, slot] of Object.entries(draw.in)) {
      const one = program.uniforms[sampler];
      if (!one) continue;
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, this.held(plan, names[slot] ?? slot).texture);
      gl.uniform1i(one.location, unit++);
    }
    for (const [name, value] of Object.entries(uniforms)) this.uniform(program, name, value);
    this.uniform(program, "number_of_step", step.s ?? 0);  // rule 4 of glla/passes/glsl/es.py
    Object.entries(step.b ?? {}).forEach(([name, [slot, first, count]], binding) => {
      const index = gl.getUniformBlockIndex(program.program, name);
      if (index === gl.INVALID_INDEX) return;
      gl.uniformBlockBinding(program.program, index, binding);
      gl.bindBufferRange(gl.UNIFORM_BUFFER, binding, this.held(plan, names[slot] ?? slot).buffer, 16 * first, 16 * count);
    });
    if (draw.points) gl.drawArrays(gl.POINTS, 0, draw.points);
    else gl.drawArrays(gl.TRIANGLES, 0, 3);
    for (const slot of draws) {
      const { drawn, w } = this.held(plan, slot);
      for (let row = y; row < y + height; row++) drawn.fill(1, row * w + x, row * w + x + width);
    }
    gl.activeTexture(gl.TEXTURE0);
  }

  // An array of the host as a matrix.
  array(plan, slot) {
    const [m, n] = this.data.plans[plan].slots[slot].host;
    return { m, n, at: this.held(plan, slot).values ?? this.read(plan, slot).values };
  }

  // What the host does, in float64.
  host(plan, step) {
    const made = step.set ? [{ at: numbersOf(step) }] : this.hosts[step.host](step.in.map((slot) => this.array(plan, slot)), this);
    (step.out ?? [step.set]).forEach((slot, k) => this.keep(plan, slot, made[k].at));
  }

  keep(plan, slot, values) {
    const held = this.held(plan, slot);
    held.values = values;
    held.drawn.fill(1);
  }

  // To the host, or from it; or into a buffer: WebGL has no glGetTexImage, so pixels are read into the buffer, which
  // then is that of a uniform block.
  copy(plan, source, target) {
    const gl = this.gl;
    const [from, to] = [this.held(plan, source), this.held(plan, target)];
    if (from.values) {
      this.write(plan, target, from.values);
      to.drawn.fill(1);
    } else if (to.values) {
      this.keep(plan, target, this.read(plan, source).values);
    } else {
      this.framebuffer(plan, [source]);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, to.buffer);
      gl.readPixels(0, 0, from.w, from.h, gl.RGBA, gl.FLOAT, 0);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      to.drawn[0] = 1;
    }
  }

  // Name of the texture that holds a result of a plan once it has run.
  result(plan, name) {
    return this.last(plan, this.data.plans[plan].results[name]);
  }

  last(plan, slot) {
    return this.ends?.[plan]?.[slot] ?? slot;
  }

  // What a slot is: its size and layout.
  storage(plan, slot) {
    return this.data.plans[plan].slots[slot.replace(/'+$/, "")];
  }

  // A result as a matrix {shape, values} where it is one, else its texels.
  value(plan, name) {
    const slot = this.result(plan, name);
    return unpacked(this.storage(plan, slot), this.read(plan, slot));
  }
}

// -- texts --------------------------------------------------------------------------------------------------------

// Lines of a text, each with its place: the head, then lines of files, and lines that stand in none.
function linesOf({ head, sources }, parts) {
  const lines = head.map((text) => ({ text, place: text }));
  for (const part of parts) {
    const [file, ...spans] = typeof part === "string" ? [] : part;
    if (!file) lines.push({ text: part, place: part });
    for (let k = 0; k < spans.length; k += 2) {
      const found = sources[file].split("\n").slice(spans[k] - 1, spans[k] - 1 + spans[k + 1]);
      lines.push(...found.map((text, place) => ({ text, place: `${file}:${spans[k] + place}` })));
    }
  }
  return lines;
}

const textOf = (data, parts) => linesOf(data, parts).map(({ text }) => `${text}\n`).join("");
const placeOf = (data, parts, line) => linesOf(data, parts)[line - 1]?.place ?? `line ${line}`;

// Without comments, which may hold what a compiler refuses; every line keeps its number.
function uncommented(text) {
  return text.replace(/\/\/[^\n]*|\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ""));
}

// -- layouts ------------------------------------------------------------------------------------------------------

// Texels of an array: a matrix lies packed, 2 x 2 elements to a texel, others lie wrapped, four to a texel.
function laidOut({ h, w, c, shape }, { shape: [rows, columns], values }) {
  const texels = new Float32Array(h * w * c);
  if (!shape) {
    texels.set(values);
    return texels;
  }
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      texels[4 * ((i >> 1) * w + (j >> 1)) + 2 * (i & 1) + (j & 1)] = values[i * columns + j];
    }
  }
  return texels;
}

// The other way round; of what is no matrix the texels stay as they are. `drawn` goes along.
function unpacked({ shape, wrapped, host }, texels) {
  if (host) return { shape: host, values: texels.values, drawn: texels.drawn };
  if (wrapped?.length === 1) {  // a vector, four elements to a texel
    const [length] = wrapped;
    const drawn = Uint8Array.from({ length }, (_, k) => texels.drawn[k >> 2]);
    return { shape: [length, 1], values: texels.values.slice(0, length), drawn };
  }
  if (!shape) return texels;
  const [rows, columns] = shape;
  const { w, values, drawn } = texels;
  const matrix = { shape, values: new Float32Array(rows * columns), drawn: new Uint8Array(rows * columns) };
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const texel = (i >> 1) * w + (j >> 1);
      matrix.values[i * columns + j] = values[4 * texel + 2 * (i & 1) + (j & 1)];
      matrix.drawn[i * columns + j] = drawn[texel];
    }
  }
  return matrix;
}

// Numbers as the document has them: float32, or int32; of large arrays the upper halves, the others being 0.
function numbersOf({ data, halves }, int = false) {
  const { buffer } = Uint8Array.from(atob(data ?? halves), (letter) => letter.charCodeAt(0));
  if (halves !== undefined) return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (half) => half << 16).buffer);
  return int ? new Int32Array(buffer) : new Float32Array(buffer);
}

const decoded = (array) => ({ shape: array.shape, values: numbersOf(array) });

function splitOnce(key) {
  const at = key.indexOf(" ");
  return [Number(key.slice(0, at)), key.slice(at + 1)];
}
