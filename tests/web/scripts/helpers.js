const press = (key, target = document.body) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const put = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event("change", { bubbles: true })); };
const cell = (i, j) => document.querySelector(`#operands input[data-i="${i}"][data-j="${j}"]`);
const edit = (i, j, text) => { cell(i, j).value = text; cell(i, j).dispatchEvent(new Event("change", { bubbles: true })); };
const bits = (values) => btoa(String.fromCharCode(...new Uint8Array(Float32Array.from(values).buffer)));
const result = (name) => bits(player.value(player.timeline.at(-1).plan, name).values);
const end = () => { press("End"); return { mark: at("mark").textContent, words: at("judgement").textContent, outcome: at("outcome").innerText, because: player.timeline.map((one) => one.because).filter(Boolean) }; };
