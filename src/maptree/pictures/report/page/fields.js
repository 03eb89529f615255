// The form: one field for every column that the tree tests.

// By kind: the type of the input, how its text is read, and the message if that fails.
const INPUTS = {
  number: ["text", null, "This is not a number. Write 1234.5, or leave it empty."],
  date: ["date", readDate, "This is not a date. Write 2021-03-04."],
  datetime: ["datetime-local", readDatetime, "This is not a date and time. Write 2021-03-04 12:30."],
  time: ["time", readTime, "This is not a time of day. Write 12:30."],
  duration: ["text", readDuration, "This is not a duration. Write 2:30:00, or 1 d 2:30:00."],
};

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

class Field {
  constructor(spec, number) {
    this.spec = spec;
    const id = `field-${number}`;
    this.control = spec.kind === "options" ? this.makeSelect() : this.makeInput();
    this.control.id = id;
    this.control.setAttribute("aria-describedby", `${id}-error`);
    this.error = make("p", { class: "error", id: `${id}-error`, hidden: "" });
    const label = make("label", { for: id }, make("bdi", {}, spec.name));
    this.element = make("div", { class: "field" }, label, this.control, this.error);
    if (spec.range) this.note(spec.range);
    if (!spec.zone) return;
    label.append(" in UTC");
    if (spec.zone !== "UTC") this.note(`The tree shows times in ${spec.zone}.`);
  }

  // Adds a line below the control.
  note(words) {
    const described = this.control.getAttribute("aria-describedby");
    const id = `${this.control.id}-note-${described.split(" ").length}`;
    this.error.before(make("p", { class: "note", id }, words));
    this.control.setAttribute("aria-describedby", `${id} ${described}`);
  }

  makeSelect() {
    const { options, other, missing } = this.spec;
    const select = make("select");
    if (missing) select.append(make("option", { value: "" }, "missing"));
    options.forEach((name, i) => select.append(make("option", { value: i }, name)));
    if (other) select.append(make("option", { value: options.length }, "any other value"));
    return select;
  }

  // Time inputs take milliseconds at best; for finer thresholds the input is text.
  makeInput() {
    const { kind, step } = this.spec;
    const fine = step === null;
    const input = make("input", { type: fine ? "text" : INPUTS[kind][0], placeholder: "missing" });
    if (fine && kind === "datetime") input.placeholder = "missing, or 2021-03-04 12:30:00.000001";
    if (step) input.step = step;
    if (kind === "number") input.inputMode = "decimal";
    return input;
  }

  // The value; null if it is missing, undefined if it cannot be read.
  read() {
    const text = this.control.value.trim();
    const { kind } = this.spec;
    let value = null;
    if (kind === "options") value = text === "" ? null : Number(text);
    else if (this.control.validity.badInput) value = undefined;
    else if (kind === "number") value = text === "" ? null : readNumber(text, this.spec.decimal);
    else value = text === "" ? null : INPUTS[kind][1](text);
    this.complain(value === undefined ? INPUTS[kind][2] : "");
    return value;
  }

  complain(words) {
    this.error.textContent = words;
    this.error.hidden = words === "";
    this.control.setAttribute("aria-invalid", words !== "");
  }

  clear() {
    this.control.value = this.spec.kind === "options" && !this.spec.missing ? "0" : "";
    this.complain("");
  }
}
