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
    const more = extraField(data); // which no test is about
    this.extra = more ? more.read() : null;
    this.form.append(...[...this.fields, more].flatMap((field) => field?.element ?? []));
    this.more = more;
    if (!this.fields.length && !more) {
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
    this.more?.clear();
    this.verdict.replaceChildren();
    this.answer.replaceChildren();
    this.tree.light(null);
    (this.fields[0] ?? this.more).control.focus();
  }

  update() {
    const values = this.fields.map((field) => field.read());
    this.extra = this.more ? this.more.read() : null;
    if (values.includes(undefined) || this.extra === undefined) {
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
    const { nodes } = this.data;
    const because = leaf ? `Because ${nodes[leaf].rule}. ` : "";
    const { verdict, details } = answerOf(this.data, leaf, this.extra);
    this.verdict.replaceChildren(...verdict);
    this.answer.replaceChildren(...details, make("p", { class: "hint" }, `${because}From ${rowsOf(rowsIn(nodes[leaf]))}.`));
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
