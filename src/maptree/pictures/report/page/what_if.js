// A case: its path through the tree, and the prediction at its end.

class WhatIf {
  constructor(data, tree) {
    this.data = data;
    this.tree = tree;
    this.verdict = document.getElementById("verdict"); // in one line, and read aloud
    this.answer = document.getElementById("answer"); // in full
    this.form = document.getElementById("case");
    this.fields = data.fields.map((spec, i) => new Field(spec, i));
    const clear = document.getElementById("clear");
    this.form.append(...this.fields.map((field) => field.element));
    if (!this.fields.length) {
      document.getElementById("what-if-hint").textContent = "The tree is a single leaf: every case has the same prediction.";
      clear.hidden = true;
      this.show(0, []);
    } else if (data.fields.some((spec) => spec.missing)) {
      document.getElementById("what-if-hint").textContent =
        "Enter a case to see its path through the tree. Empty fields count as missing.";
    }
    this.form.addEventListener("input", () => this.update());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    clear.addEventListener("click", () => this.clear());
  }

  clear() {
    for (const field of this.fields) {
      field.clear();
      field.element.classList.remove("unasked");
    }
    this.verdict.replaceChildren();
    this.answer.replaceChildren();
    this.tree.light(null);
    this.fields[0].control.focus();
  }

  update() {
    const values = this.fields.map((field) => field.read());
    if (values.includes(undefined)) {
      this.verdict.replaceChildren("No prediction: a field cannot be read.");
      this.answer.replaceChildren();
      this.tree.light(null);
      return;
    }
    const path = this.walk(values);
    const asked = new Set(path.map((node) => this.data.nodes[node].test?.field));
    this.fields.forEach((field, i) => field.element.classList.toggle("unasked", !asked.has(i)));
    this.tree.light(path);
    const among = (matters) => [...asked].filter((i) => i !== undefined && matters(this.data.fields[i], values[i]));
    this.show(path.at(-1), among((field, value) => value === null && !field.seenMissing),
      among((field, value) => field.other && !field.sets && value === field.options.length));
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

  // `unseen` are fields that are missing in the case but were never missing in fit; `unknown` those whose value
  // was not seen there.
  show(leaf, unseen, unknown = []) {
    const { nodes, colours } = this.data;
    const known = estimates(this.data, leaf);
    const list = known.map(({ k, name, mean, low, high }) => make("li", { "data-class": k },
      make("bdi", {}, name),
      range({ mean, low, high }),
      meter(colours[k], mean, low, high)));
    const because = leaf ? `Because ${nodes[leaf].rule}. ` : "";
    this.verdict.replaceChildren(
      make("b", {}, make("bdi", { id: "answer-class" }, known[0].name)), " ", range(known[0]));
    this.answer.replaceChildren(
      make("ul", { "aria-label": "Probabilities with 95% credible intervals" }, ...list),
      make("p", { class: "hint" },
        `${because}From ${rowsOf(total(nodes[leaf].counts))}.`));
    const listed = (fields) => fields.flatMap((i, k) => [...(k ? [", "] : []), make("bdi", {}, this.data.fields[i].name)]);
    if (unknown.length) {
      this.answer.append(make("p", { class: "hint" }, "Not one of the values in the training rows: ",
        ...listed(unknown), ". Such a value takes the false branch of every test."));
    }
    if (unseen.length) {
      this.verdict.append(" ", make("span", { class: "caution" }, "Unreliable: values are missing."));
      this.answer.append(make("p", { class: "caution" }, "Missing here, but never in the training rows: ",
        ...listed(unseen), ". A missing value takes the false branch of every test, so do not rely on this prediction."));
    }
    this.answer.dataset.leaf = leaf;
  }
}

function range(estimate) {
  const { mean, low, high } = estimate;
  const texts = writeEstimate(estimate, 3);
  const [m, l, h] = [mean, low, high].map((value, i) => make("data", { value }, texts[i]));
  return make("span", {}, m, " (", l, " to ", h, ")");
}

function meter(colour, mean, low, high) {
  const make = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const svg = make("svg", { class: "meter", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" });
  const line = { "vector-effect": "non-scaling-stroke" };
  svg.append(
    make("path", { class: "rail", d: "M0 5h100" }),
    make("path", { class: `k${colour}`, d: `M0 5h${100 * mean}` }),
    make("path", { class: "whisker", d: `M${100 * low} 11v4m0-2H${100 * high}m0-2v4`, ...line }));
  return svg;
}
