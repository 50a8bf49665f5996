// Many documents in one page: they share a context, and programs by their texts.
const canvas = document.createElement("canvas");
const programs = new Map();
const linked = Player.prototype.linked;
Player.prototype.linked = function (...texts) {
    const key = texts.join();
    if (!programs.has(key)) programs.set(key, linked.apply(this, texts));
    return programs.get(key);
};
const release = ({ gl, store }) => {
    for (const { texture, buffer } of store.values()) {
        gl.deleteTexture(texture ?? null);
        gl.deleteBuffer(buffer ?? null);
    }
};
const given = (operands) => Object.fromEntries(Object.entries(operands).map(([name, one]) => [name, decoded(one)]));
