// The part of a large matrix is moved by its fields, which keep the focus, and by a click into the picture.
const field = (k) => document.querySelectorAll("#figures .chooser input")[k];
const heads = () => [...document.querySelectorAll("#figures table.matrix thead th")].slice(0, 2).map((one) => one.textContent);
go(1);
field(1).focus();
field(1).value = 9; field(1).dispatchEvent(new Event("change"));
const moved = [heads(), document.activeElement === field(1), field(1).value];
field(1).value = 99; field(1).dispatchEvent(new Event("change"));
const most = heads();
const canvas = document.querySelector("#figures canvas");
const box = canvas.getBoundingClientRect();
const [x, y] = [box.left + canvas.clientLeft + canvas.clientWidth / 2, box.top + canvas.clientTop + 1];
canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: x, clientY: y }));
const read = document.querySelector("#figures .readout").textContent;
canvas.dispatchEvent(new MouseEvent("click", { clientX: x, clientY: y }));
return { moved, most, read, clicked: heads(), row: field(0).value };
