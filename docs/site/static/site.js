/* For keyboards and screen readers. What scrolls can be reached with the keyboard, folds of the sidebar are named
   after the page that they unfold, and a corner of a table without words is not a heading. */
function reachable() {
  for (const part of document.querySelectorAll(".bd-article :is(table, pre, .room, p:has(> img))"))
    if (part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight) part.tabIndex = 0;
}

document.addEventListener("DOMContentLoaded", () => {
  for (const fold of document.querySelectorAll("details > summary"))
    if (!fold.textContent.trim())
      fold.setAttribute("aria-label", `Pages below ${fold.closest("li")?.querySelector("a")?.textContent.trim() ?? "this one"}`);
  for (const heading of document.querySelectorAll("th"))
    if (!heading.textContent.trim()) {
      const cell = document.createElement("td");
      for (const { name, value } of heading.attributes) cell.setAttribute(name, value);
      heading.replaceWith(cell);
    }
  for (const cell of document.querySelectorAll(".bd-article td"))
    if (cell.textContent.length > 80) cell.classList.add("prose");
  reachable();
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
