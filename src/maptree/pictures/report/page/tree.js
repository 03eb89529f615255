// The tree: folding, zooming, and moving with keys.

// Rows of the nodes, as pictures/layout.py computes them: subtrees as close as possible.
function tidy(order, childrenOf) {
  const offset = new Map();
  const outline = new Map(); // [tops, bottoms] by level, relative to the node
  const join = (near, far, apart) => [
    0, ...near.map((row) => row - apart / 2), ...far.slice(near.length).map((row) => row + apart / 2),
  ];
  const flip = (rows) => rows.map((row) => -row);
  for (const node of [...order].reverse()) {
    const children = childrenOf(node);
    if (!children) {
      outline.set(node, [[0], [0]]);
      continue;
    }
    const [[tops, upper], [lower, bottoms]] = children.map((child) => outline.get(child));
    const levels = Math.min(upper.length, lower.length);
    let apart = -Infinity;
    for (let level = 0; level < levels; level++) apart = Math.max(apart, upper[level] - lower[level] + 1);
    offset.set(children[0], -apart / 2);
    offset.set(children[1], apart / 2);
    outline.set(node, [join(tops, lower, apart), flip(join(flip(bottoms), flip(upper), apart))]);
  }
  const rows = new Map([[order[0], 0]]);
  for (const node of order) {
    for (const child of childrenOf(node) ?? []) rows.set(child, rows.get(node) + offset.get(child));
  }
  const least = Math.min(...rows.values());
  for (const [node, row] of rows) rows.set(node, row - least);
  return rows;
}

const rowsOf = (n) => `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"}`;

class TreeWidget {
  constructor(data, size) {
    this.data = data;
    this.size = size;
    this.svg = document.querySelector("svg.tree");
    this.viewport = document.getElementById("viewport");
    this.groups = new Map([...this.svg.querySelectorAll("[data-n]")].map((g) => [Number(g.dataset.n), g]));
    this.edges = new Map([...this.svg.querySelectorAll("[data-e]")].map((e) => [Number(e.dataset.e), e]));
    this.parent = new Map();
    data.nodes.forEach((node, i) => node.children?.forEach((child) => this.parent.set(child, i)));
    this.folded = new Set();
    this.scale = 1;
    this.current = 0;
    this.viewport.querySelector(".start").remove(); // the marker does not move with the tree
    this.describe();
    this.draw();
  }

  children(node) {
    return this.folded.has(node) ? null : this.data.nodes[node].children;
  }

  visible() {
    const hidden = new Set();
    return this.data.order.filter((node) => {
      const parent = this.parent.get(node);
      if (parent !== undefined && (hidden.has(parent) || this.folded.has(parent))) hidden.add(node);
      return !hidden.has(node);
    });
  }

  leavesBelow(node) {
    const children = this.data.nodes[node].children;
    return children ? children.reduce((sum, child) => sum + this.leavesBelow(child), 0) : 1;
  }

  // Roles and names, for screen readers and keys. Without a script the picture is only a picture.
  describe() {
    this.svg.setAttribute("role", "tree");
    for (const [i, group] of this.groups) {
      const side = group.querySelector(".e") ? `${group.querySelector(".e").textContent}: ` : "";
      const title = group.querySelector("text").textContent;
      const test = this.data.nodes[i].children ? `${title}? ` : "";
      group.setAttribute("role", "treeitem");
      group.setAttribute("aria-label", `${side}${test}${nodeWords(this.data, i)}`);
      group.setAttribute("tabindex", i === this.current ? "0" : "-1");
    }
    for (const edge of this.edges.values()) edge.setAttribute("aria-hidden", "true");
  }

  draw() {
    const shown = this.visible();
    const rows = tidy(shown, (node) => this.children(node));
    const { box, height, columnGap, rowGap, margin } = this.size;
    const depth = new Map();
    const at = new Map();
    for (const node of shown) {
      depth.set(node, (depth.get(this.parent.get(node)) ?? -1) + 1);
      at.set(node, [margin + depth.get(node) * (box + columnGap), margin + rows.get(node) * (height + rowGap)]);
    }
    for (const [node, group] of this.groups) {
      group.toggleAttribute("hidden", !at.has(node));
      this.edges.get(node)?.toggleAttribute("hidden", !at.has(node));
      if (!at.has(node)) continue;
      const [x, y] = at.get(node);
      group.setAttribute("transform", `translate(${x} ${y})`);
      group.setAttribute("aria-level", depth.get(node) + 1);
      this.showFold(node, group);
      const from = at.get(this.parent.get(node));
      if (!from) continue;
      const [startX, startY, endY] = [from[0] + box, from[1] + height / 2, y + height / 2];
      const bend = startX + columnGap * 0.4;
      this.edges.get(node).setAttribute("d",
        `M${startX} ${startY}C${bend} ${startY} ${startX} ${endY} ${bend} ${endY}H${x}`);
    }
    this.width = Math.max(...shown.map((node) => at.get(node)[0] + box + this.right(node)));
    this.height = Math.max(...[...at.values()].map(([, y]) => y)) + height + margin;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.at = at;
    this.resize();
  }

  // The space at the right of a box: for the number of folded leaves, as wide as the font makes it.
  right(node) {
    if (!this.folded.has(node)) return this.size.margin;
    const count = this.groups.get(node).querySelector(".count");
    return Math.max(this.size.columnGap, this.size.margin + count.getComputedTextLength());
  }

  // Show at the right end of a box how many leaves are folded.
  showFold(node, group) {
    if (!this.data.nodes[node].children) return;
    const folded = this.folded.has(node);
    group.setAttribute("aria-expanded", !folded);
    let count = group.querySelector(".count");
    if (!count) {
      count = document.createElementNS("http://www.w3.org/2000/svg", "text");
      count.setAttribute("class", "count");
      count.setAttribute("x", this.size.box + 5);
      count.setAttribute("y", this.size.height / 2 + 4);
      group.append(count);
    }
    count.textContent = folded ? `+${this.leavesBelow(node).toLocaleString("en")} leaves` : "";
  }

  resize() {
    this.svg.setAttribute("width", this.width * this.scale);
    this.svg.setAttribute("height", this.height * this.scale);
    document.getElementById("sideways").hidden = this.viewport.scrollWidth <= this.viewport.clientWidth;
  }

  // Zoom by a factor around a point of the viewport.
  zoom(factor, x = this.viewport.clientWidth / 2, y = this.viewport.clientHeight / 2) {
    const scale = Math.min(4, Math.max(0.1, this.scale * factor));
    const { scrollLeft, scrollTop } = this.viewport;
    const grown = scale / this.scale;
    this.scale = scale;
    this.resize();
    this.viewport.scrollTo((scrollLeft + x) * grown - x, (scrollTop + y) * grown - y);
  }

  // The scale at which all unfolded nodes are visible.
  room() {
    return Math.min(this.viewport.clientWidth / this.width, (window.innerHeight * 0.7) / this.height);
  }

  // Show all unfolded nodes, within the limits of the scale.
  fit(least = 0.1) {
    this.scale = Math.min(1, Math.max(least, this.room()));
    this.resize();
    this.reveal(0);
  }

  // The first view is legible: what would make it too small is folded, except the first two tests.
  open(least = 0.65) {
    const depth = [];
    for (const node of this.data.order) depth[node] = (depth[this.parent.get(node)] ?? -1) + 1;
    const foldFrom = (level) => {
      this.folded = new Set(this.data.order.filter((node) => depth[node] === level && this.data.nodes[node].children));
      this.draw();
    };
    if (this.room() < least) {
      let level = 2;
      foldFrom(level);
      while (this.room() >= least && this.folded.size) foldFrom(++level);
      if (level > 2) foldFrom(level - 1);
    }
    this.fit(least);
  }

  toggle(node) {
    if (!this.data.nodes[node].children) return;
    if (!this.folded.delete(node)) this.folded.add(node);
    this.draw();
    this.reveal(node);
  }

  foldAll(fold) {
    this.folded = new Set(fold ? this.data.nodes.flatMap((node, i) => (node.children ? [i] : [])) : []);
    this.draw();
    this.setCurrent(0);
    this.reveal(0);
  }

  // Scroll the viewport, not the page, until a box is visible.
  reveal(node, smooth = false) {
    const [x, y] = this.at.get(node);
    const { clientWidth, clientHeight } = this.viewport;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const right = this.data.nodes[node].children ? Math.max(this.size.columnGap, this.right(node)) : this.size.margin;
    this.viewport.scrollTo({
      left: node === 0 ? 0 : (x + this.size.box + right) * this.scale - clientWidth,
      top: (y + this.size.height / 2) * this.scale - clientHeight / 2,
      behavior: smooth && !calm ? "smooth" : "auto",
    });
  }

  setCurrent(node) {
    this.groups.get(this.current).setAttribute("tabindex", "-1");
    this.current = node;
    this.groups.get(node).setAttribute("tabindex", "0");
  }

  focus(node) {
    this.setCurrent(node);
    this.groups.get(node).focus({ preventScroll: true });
    this.reveal(node);
  }

  // Highlight the path of a case; null clears it.
  light(path) {
    for (const element of this.svg.querySelectorAll(".lit")) element.classList.remove("lit");
    this.svg.classList.toggle("asked", path !== null);
    if (path === null) return;
    const unfolded = path.map((node) => this.folded.delete(node));
    if (unfolded.includes(true)) this.draw();
    for (const node of path) {
      this.groups.get(node).classList.add("lit");
      this.edges.get(node)?.classList.add("lit");
    }
    this.reveal(path.at(-1), true);
  }

  // Move as in any tree widget: right goes deeper, left goes back.
  onKey(event) {
    const shown = this.visible();
    const at = shown.indexOf(this.current);
    const children = this.children(this.current);
    const steps = {
      ArrowDown: () => shown[at + 1],
      ArrowUp: () => shown[at - 1],
      Home: () => shown[0],
      End: () => shown.at(-1),
      ArrowRight: () => (this.folded.has(this.current) ? this.toggle(this.current) : children?.[0]),
      ArrowLeft: () => (children ? this.toggle(this.current) : this.parent.get(this.current)),
      Enter: () => this.toggle(this.current),
      " ": () => this.toggle(this.current),
    };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const next = step();
    if (next !== undefined) this.focus(next);
  }
}
