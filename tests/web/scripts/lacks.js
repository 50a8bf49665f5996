// What a page says where something lacks, and that it shows nothing empty then.
const shown = [...document.querySelectorAll("main, footer, figure, section")].filter((one) => one.offsetParent || one.getClientRects().length);
return {
  hidden: at("lack").hidden, words: at("lack-words").textContent, alert: at("lack").getAttribute("role"),
  shown: shown.map((one) => one.id || one.tagName.toLowerCase()),
  cells: [...document.querySelectorAll("#picture td[data-i]")].map((one) => one.textContent),
};
