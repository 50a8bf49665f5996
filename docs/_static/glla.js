// Frames of players follow the theme that the reader chose.
const told = () => {
  const theme = document.documentElement.dataset.theme;
  document.querySelectorAll("iframe.player").forEach((one) => one.contentWindow.postMessage(theme, "*"));
};
new MutationObserver(told).observe(document.documentElement, { attributeFilter: ["data-theme"] });
addEventListener("load", told);
document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("iframe.player").forEach((one) => one.addEventListener("load", told)));
