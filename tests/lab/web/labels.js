const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || (one.labels && one.labels.length);
const nameless = [...document.querySelectorAll("button, input, select, textarea, [role=region], [role=img]")].filter((one) => !named(one));
const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
const lone = [...document.querySelectorAll("[aria-labelledby], label[for]")].filter((one) => !at(one.getAttribute("aria-labelledby") ?? one.getAttribute("for")));
const levels = [...document.querySelectorAll("h1, h2, h3")].map((one) => Number(one.tagName[1]));
const luminance = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number).map((c) => (text.startsWith("color(") ? c : c / 255)).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
const contrast = (one) => {
    const style = getComputedStyle(one);
    const [a, b] = [luminance(style.color), luminance(style.backgroundColor)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
};
let least = Infinity;
for (let k = 0; k <= player.timeline.length; k++) {
    go(k);
    for (const one of document.querySelectorAll("#figures td[data-i]:not(.undrawn)")) least = Math.min(least, contrast(one));
}
return {
    nameless: nameless.map((one) => one.outerHTML), twice: ids.length - new Set(ids).size, lone: lone.length, levels, least,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, wide: document.documentElement.scrollWidth - innerWidth, width: innerWidth,
    lang: document.documentElement.lang, small: [...document.querySelectorAll("button")].filter((one) => one.offsetParent && one.offsetHeight < 44).length,
};
