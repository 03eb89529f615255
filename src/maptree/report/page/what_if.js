// A case: its way through the tree, and the answer at the end of it.

class WhatIf {
  constructor(data, tree) {
    this.data = data;
    this.tree = tree;
    this.answer = document.getElementById("answer");
    this.form = document.getElementById("case");
    this.fields = data.fields.map((spec, i) => new Field(spec, i));
    const clear = make("button", { type: "button", id: "clear" }, "Clear");
    this.form.append(...this.fields.map((field) => field.element), clear);
    if (!this.fields.length) {
      document.getElementById("what-if-hint").textContent = "The tree asks nothing: every case has the same answer.";
      clear.hidden = true;
      this.update();
    } else if (data.fields.some((spec) => spec.missing)) {
      document.getElementById("what-if-hint").textContent =
        "Enter a case to see its way through the tree. What is left empty counts as missing.";
    }
    this.form.addEventListener("input", () => this.update());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    clear.addEventListener("click", () => this.clear());
  }

  clear() {
    for (const field of this.fields) field.clear();
    this.answer.replaceChildren();
    this.answer.classList.remove("given");
    this.tree.light(null);
    this.fields[0].control.focus();
  }

  update() {
    const values = this.fields.map((field) => field.read());
    if (values.includes(undefined)) {
      this.answer.replaceChildren(make("p", {}, "No answer: a field cannot be read."));
      this.answer.classList.remove("given");
      this.tree.light(null);
      return;
    }
    const path = this.walk(values);
    this.tree.light(path);
    this.show(path.at(-1));
  }

  walk(values) {
    const path = [0];
    for (;;) {
      const { test, children } = this.data.nodes[path.at(-1)];
      if (!children) return path;
      const yes = answersYes(test, this.data.fields[test.field].kind, values[test.field]);
      path.push(children[yes ? 0 : 1]);
    }
  }

  show(leaf) {
    const { nodes, classes, estimates, colours } = this.data;
    const node = nodes[leaf];
    const known = classes.map((name, k) => ({ name, k, estimate: estimates[node.estimates[k]] }));
    known.sort((a, b) => b.estimate[0] - a.estimate[0] || a.k - b.k);
    const rows = node.counts.reduce((sum, count) => sum + count, 0);
    const head = make("tr", {}, ...["class", "", "probability", "95% interval"].map(
      (words) => (words ? make("th", { scope: "col" }, words) : make("td"))));
    const body = known.map(({ name, k, estimate: [mean, low, high] }) => make("tr", { "data-class": k },
      make("th", { scope: "row" }, make("bdi", {}, name)),
      make("td", {}, meter(colours[k], mean, low, high)),
      make("td", {}, number(mean)),
      make("td", {}, number(low), " to ", number(high))));
    this.answer.replaceChildren(
      make("h3", {}, make("bdi", { id: "answer-class" }, known[0].name)),
      make("p", {}, `Because ${node.rule}. From ${rows.toLocaleString("en")} rows.`),
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
    this.answer.classList.add("given");
    this.answer.dataset.leaf = leaf;
  }
}

function number(value) {
  return make("data", { value }, value.toFixed(3));
}

function meter(colour, mean, low, high) {
  const make = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const svg = make("svg", { class: "meter", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(
    make("rect", { class: "rail", width: 100, height: 9 }),
    make("rect", { class: `k${colour}`, width: 100 * mean, height: 9 }),
    make("path", { class: "whisker", d: `M${100 * low} 11v4m0-2H${100 * high}m0-2v4`, "vector-effect": "non-scaling-stroke" }));
  return svg;
}
