// What a page makes of an address, and of what is typed, that are not as they should be.
const of = (hash) => { location.hash = hash; recall(); };
const first = player.operands.A.values.join();
return {
    kinds: ["toString", "constructor", "__proto__"].map((kind) => {
        of(`pass=0&kind=${kind}`);
        return [at("count").textContent, at("kind").value, player.operands.A.values.join() === first];
    }),
    passes: ["1.5", "-3", "one", "1e9"].map((pass) => { of(`pass=${pass}`); return at("count").textContent; }),
    typed: ["1e39", "-1/0", "2e38/1e-9", "inf", "-∞", "3.4028235e38"].map((text) => parsed(text) && String(parsed(text))),
};
