"use strict";
// Matrices above 16 x 16: a picture, and a part of it as a table. A page without such a matrix goes without this.

const PART = 8;  // rows and columns of the part

// A large matrix as a picture: a square for each element, and a frame around what was drawn. A click moves the part.
function picture({ grid, readout, slot, region }) {
  const size = Math.max(2, Math.floor(384 / Math.max(grid.rows, grid.columns)));
  const place = ({ offsetX, offsetY }) => [
    within(Math.floor(offsetY / made.clientHeight * grid.rows), grid.rows - 1),
    within(Math.floor(offsetX / made.clientWidth * grid.columns), grid.columns - 1),
  ];
  const made = el("canvas", {
    width: size * grid.columns, height: size * grid.rows, role: "img",
    "aria-label": `${slot} as colours; a part of it is the table below`,
    onmousemove: (event) => point(readout, grid, slot, ...place(event)), onmouseleave: () => point(readout, null),
    onclick: (event) => {
      parts[slot] = place(event).map((one) => one - PART / 2);
      show();
    },
  });
  const style = getComputedStyle(root);
  const colour = (name) => style.getPropertyValue(name);
  const [zero, positive, negative] = ["--zero", "--positive", "--negative"].map((name) => colour(name).match(/\d+/g).map(Number));
  const mixed = (t) => zero.map((one, k) => Math.round(one + ((t < 0 ? negative : positive)[k] - one) * Math.abs(t)));
  const context = made.getContext("2d");
  for (const i of range(0, grid.rows)) {
    for (const j of range(0, grid.columns)) {
      context.fillStyle = grid.drawn(i, j) ? `rgb(${mixed(strength(grid.value(i, j))).join(" ")})` : colour("--line");
      context.fillRect(j * size, i * size, size, size);
    }
  }
  if (region) {
    const [x, y, width, height] = region.map((one) => (grid.single ? 1 : 2) * size * one);
    context.strokeStyle = colour("--frame");
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.min(width, made.width - x) - 2, Math.min(height, made.height - y) - 2);
  }
  return made;
}

// The part of a large matrix that is a table, and two fields that move it.
function chooser(shown) {
  const fields = () => [...document.querySelectorAll(".chooser input")];
  const { grid, slot } = shown;
  const most = [grid.rows - PART, grid.columns - PART].map((one) => Math.max(0, one));
  const part = (parts[slot] ?? [0, 0]).map((one, k) => within(one, most[k]));
  const field = (words, k) => el("label", {}, `${words} `, el("input", {
    type: "number", min: 0, max: most[k], value: part[k], onchange: (event) => {
      parts[slot] = part.map((one, l) => (l === k ? event.target.valueAsNumber || 0 : one));
      const place = fields().indexOf(event.target);
      show();  // makes the field anew
      fields()[place].focus();
    },
  }));
  return el("div", {},
    el("p", { class: "chooser" }, field("from row", 0), " ", field("column", 1)),
    scrolled(`a part of ${slot}`, table(shown, ...part, PART, PART)));
}
