const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || (one.labels && one.labels.length);
const nameless = [...document.querySelectorAll("button, input, select, textarea, [role=region], [role=img]")].filter((one) => !named(one));
const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
const lone = [...document.querySelectorAll("[aria-labelledby], label[for]")].filter((one) => !at(one.getAttribute("aria-labelledby") ?? one.getAttribute("for")));
const levels = [...document.querySelectorAll("h1, h2, h3")].map((one) => Number(one.tagName[1]));
const luminance = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number).map((c) => (text.startsWith("color(") ? c : c / 255)).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
const clear = (one) => /^rgba\(.*, 0\)$/.test(getComputedStyle(one).backgroundColor);
// Of a text on what lies behind it.
const contrast = (one) => {
    let behind = one;
    while (clear(behind) && behind !== document.body) behind = behind.parentElement;
    const colours = [getComputedStyle(one).color, getComputedStyle(behind).backgroundColor];
    const [a, b] = colours.map(luminance).sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
};
const worst = (ones) => [...ones].reduce((least, one) => Math.min(least, contrast(one)), Infinity);
let least = Infinity;
const count = player.timeline.length;
for (let k = 0; k <= count; k += k + 5 < count ? 5 : 1) {
    go(k);
    least = Math.min(least, worst(document.querySelectorAll("#figures td[data-i]")));
}
document.querySelectorAll("details").forEach((one) => (one.open = true));
const texts = [...document.body.querySelectorAll(":not(script, :disabled)")].filter((one) => one.checkVisibility() && [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()));
return {
    nameless: nameless.map((one) => one.outerHTML), twice: ids.length - new Set(ids).size, lone: lone.length, levels,
    least, words: worst(texts), count: texts.length,
    wide: document.documentElement.scrollWidth - innerWidth, width: innerWidth,
    lang: document.documentElement.lang, small: [...document.querySelectorAll("button")].filter((one) => one.offsetParent && one.offsetHeight < 44).length,
};
