// Starts the parts of the page. Everything from the table is inserted as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
for (const row of document.querySelectorAll("[data-leaf]")) {
  data.nodes[Number(row.dataset.leaf)].rule = row.querySelector(".rule").textContent;
}
const tree = new TreeWidget(data, data.size);
new WhatIf(data, tree);

for (const element of document.querySelectorAll("#theme, .tools, #what-if, .with-script")) element.hidden = false;
tree.open();

// Light and dark
const theme = document.getElementById("theme");
let dark = matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => theme.setAttribute("aria-pressed", dark);
theme.addEventListener("click", () => {
  dark = !dark;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  showTheme();
});
showTheme();

// Zoom
const viewport = tree.viewport;
const onClick = (id, action) => document.getElementById(id).addEventListener("click", action);
onClick("zoom-in", () => tree.zoom(1.25));
onClick("zoom-out", () => tree.zoom(0.8));
onClick("zoom-fit", () => tree.fit());
onClick("fold-all", () => tree.foldAll(true));
onClick("unfold-all", () => tree.foldAll(false));
viewport.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !viewport.contains(document.activeElement)) return;
  event.preventDefault();
  const box = viewport.getBoundingClientRect();
  tree.zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
viewport.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const factor = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
  if (factor) tree.zoom(factor);
  else if (event.key === "0") tree.fit();
  else if (event.key === "Escape") hideTip();
  else if (event.target.closest("[data-n]")) tree.onKey(event);
  placeTip();
});

// Drag to move, click to fold: a press that moved is not a click.
let drag = null;
viewport.addEventListener("pointerdown", (event) => {
  if (event.pointerType !== "mouse" || event.button !== 0) return;
  drag = { x: event.clientX, y: event.clientY, left: viewport.scrollLeft, top: viewport.scrollTop, moved: false };
});
window.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  drag.moved ||= Math.hypot(x, y) > 5;
  if (!drag.moved) return;
  viewport.classList.add("dragged");
  viewport.scrollTo(drag.left - x, drag.top - y);
});
window.addEventListener("pointerup", () => {
  viewport.classList.remove("dragged");
  setTimeout(() => { drag = null; });
});
viewport.addEventListener("click", (event) => {
  const group = event.target.closest("[data-n]");
  if (!group || drag?.moved) return;
  const node = Number(group.dataset.n);
  tree.focus(node);
  tree.toggle(node);
});

// The tooltip of a box: the rule that leads there, and its rows
const tip = document.getElementById("tip");
let noted = null; // the box that the tooltip describes
function showTip(group) {
  noted = group;
  const node = Number(group.dataset.n);
  const { rule } = data.nodes[node];
  tip.replaceChildren(make("p", {}, rule === "always" ? "All rows" : rule), ...tipContent(data, node));
  tip.hidden = false;
  placeTip();
}
function placeTip() {
  if (!noted) return;
  const section = tip.parentElement.getBoundingClientRect();
  const box = noted.querySelector("rect").getBoundingClientRect();
  const left = Math.min(Math.max(0, box.left - section.left), section.width - tip.offsetWidth);
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${box.bottom - section.top + 6}px`;
}
function hideTip() {
  noted = null;
  tip.hidden = true;
}
for (const group of tree.groups.values()) {
  group.addEventListener("pointerenter", () => showTip(group));
  group.addEventListener("pointerleave", hideTip);
  group.addEventListener("focus", () => {
    tree.setCurrent(Number(group.dataset.n));
    showTip(group);
  });
  group.addEventListener("blur", hideTip);
}
viewport.addEventListener("scroll", placeTip);
