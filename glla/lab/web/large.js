"use strict";
// Matrices above 16 x 16: a picture, and a part of it as a table. A page without such a matrix goes without this.

const PART = 8;  // rows and columns of the part

// A large matrix as a picture: a pixel for each element, larger where there is room; the part below it is framed.
function picture(shown) {
  const { grid, readout, slot, region } = shown;
  const size = Math.max(2, Math.floor(384 / Math.max(grid.rows, grid.columns)));
  const made = el("canvas", {
    width: size * grid.columns, height: size * grid.rows, role: "img",
    "aria-label": `${slot} as colours; a part of it is the table below`,
  });
  const style = getComputedStyle(document.documentElement);
  const [zero, pos, neg, ink, none] = ["--zero", "--positive", "--negative", "--frame", "--line"].map((name) => rgb(style.getPropertyValue(name)));
  const context = made.getContext("2d");
  const mix = (a, b, t) => `rgb(${a.map((one, k) => Math.round(one + (b[k] - one) * t)).join(" ")})`;
  for (let i = 0; i < grid.rows; i++) {
    for (let j = 0; j < grid.columns; j++) {
      const t = grid.drawn(i, j) ? strength(grid.value(i, j)) : 0;
      context.fillStyle = grid.drawn(i, j) ? mix(zero, t < 0 ? neg : pos, Math.abs(t)) : mix(none, none, 0);
      context.fillRect(j * size, i * size, size, size);
    }
  }
  context.strokeStyle = mix(ink, ink, 0);
  context.lineWidth = 2;
  if (region) {
    const [x, y, width, height] = region.map((one) => 2 * size * one);
    context.strokeRect(x + 1, y + 1, Math.min(width, made.width - x) - 2, Math.min(height, made.height - y) - 2);
  }
  const place = (event) => {
    const box = made.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left) / box.width * grid.columns);
    const i = Math.floor((event.clientY - box.top) / box.height * grid.rows);
    return [Math.max(0, Math.min(grid.rows - 1, i)), Math.max(0, Math.min(grid.columns - 1, j))];
  };
  made.addEventListener("mousemove", (event) => point(readout, grid, slot, ...place(event)));
  made.addEventListener("mouseleave", () => point(readout, null));
  made.addEventListener("click", (event) => {
    const [i, j] = place(event);
    parts[slot] = [Math.max(0, i - PART / 2), Math.max(0, j - PART / 2)];
    show();
  });
  return made;
}

const rgb = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);

// The part of a large matrix that is a table, and two fields that move it.
function chooser(shown) {
  const { grid, slot } = shown;
  const [top, left] = (parts[slot] ?? [0, 0]).map((one, k) => Math.min(one, Math.max(0, [grid.rows, grid.columns][k] - PART)));
  const field = (words, value, most, place) => el("label", {}, `${words} `, el("input", {
    type: "number", min: 0, max: Math.max(0, most - PART), value, onchange: (event) => {
      parts[slot] = [top, left];
      parts[slot][place] = Math.max(0, Math.min(most - PART, event.target.valueAsNumber || 0));
      show();
    },
  }));
  return el("div", {},
    el("p", { class: "chooser" }, field("from row", top, grid.rows, 0), " ", field("column", left, grid.columns, 1)),
    scrolled(`a part of ${slot}`, table(shown, top, left, PART, PART)));
}
