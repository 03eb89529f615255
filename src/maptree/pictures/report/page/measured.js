// What a tree of numbers or counts predicts: a mean, and intervals for a new row.

const LEVELS = [50, 90, 95];
const rowsIn = (node) => node.n;

// A number and its interval, to two digits of the width of the interval, as words/measured.py writes them.
function writeMeasured(values) {
  const [, low, high] = values;
  const width = high - low;
  if (!(width > 0 && width < Infinity)) return values.map((value) => writePlain(value, 6));
  const unit = Math.floor(Math.log10(width)) - 1;
  const top = Math.floor(Math.log10(Math.max(...values.map(Math.abs))));
  if (top >= 15 || unit < -9) {
    const digits = Math.min(Math.max(top - unit, 0), 16);
    return values.map((value) => value.toExponential(digits));
  }
  const decimals = Math.max(0, -unit);
  const rounded = (value) => (unit > 0 ? Math.round(value / 10 ** unit) * 10 ** unit : value);
  return values.map((value) => (rounded(value) + 0).toLocaleString("en",
    { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace(/^-(0(\.0*)?)$/, "$1"));
}

function writePlain(value, digits) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(digits - 1);
  return value.toLocaleString("en", { maximumSignificantDigits: digits });
}

// A node for screen readers.
function nodeWords(data, i) {
  const { n, values, children } = data.nodes[i];
  const [mean, low, high] = writeMeasured(values);
  return `${children ? "Predicts " : ""}${data.name} ${mean}, between ${low} and ${high}; ${rowsOf(n)}`;
}

// The prediction and what the rows have, for a tooltip.
function tipContent(data, node) {
  const { n, values, held } = data.nodes[node];
  const [mean, low, high] = writeMeasured(values);
  return [
    make("p", {}, make("bdi", {}, data.name), ` ${mean}, 95% interval ${low} to ${high}`),
    make("p", {}, `${rowsOf(n)}: ${held}`),
  ];
}

// The exposure of a case, which no test is about.
function extraField(data) {
  if (!data.exposed) return null;
  const field = new Field({ name: "exposure", kind: "number", missing: false, decimal: false }, "exposure");
  const words = "The exposure is a number above 0, such as 1.";
  field.control.placeholder = "1";
  field.note("1 if it is empty");
  field.read = () => {
    const text = field.control.value.trim();
    const value = text === "" ? 1 : Number(text.replace("\u2212", "-"));
    const good = value > 0 && value < Infinity;
    field.complain(good ? "" : words);
    return good ? value : undefined;
  };
  return field;
}

// The prediction of a leaf: in one line, and in full.
function answerOf(data, leaf, exposure) {
  const node = data.nodes[leaf];
  const { mean, intervals } = node.gamma ? ofCount(node.gamma, exposure ?? 1) : { mean: node.values[0], intervals: node.intervals };
  const list = LEVELS.map((level, i) => make("li", { "data-level": level },
    make("span", {}, `${level}% of new rows`),
    ends(intervals[i], data.counts),
    levelMeter(data, intervals[i], exposure ?? 1)));
  const said = writeMeasured(node.values).map((text, i) => make("data", { value: node.values[i] }, text));
  const details = [make("ul", { "aria-label": "Intervals for a new row" }, ...list)];
  if (exposure !== null) {
    details.unshift(make("p", {}, "Expected with this exposure: ",
      make("data", { id: "answer-mean", value: mean }, writePlain(mean, 4))));
  }
  const shape = document.querySelector(`[data-n="${leaf}"] .shape`)?.cloneNode();
  if (shape) details.unshift(enlarged(data, shape, document.querySelector(`[data-n="${leaf}"] .o`).cloneNode()));
  return {
    verdict: [make("b", {}, make("bdi", { id: "answer-class" }, data.name), " ", said[0]), " ",
      make("span", {}, "(", said[1], " to ", said[2], ")")],
    details,
  };
}

function ends(pair, counts) {
  const texts = counts ? pair.map((value) => value.toLocaleString("en")) : writeMeasured([pair[0], ...pair]).slice(1);
  const [low, high] = pair.map((value, i) => make("data", { value }, texts[i]));
  return make("span", {}, low, " to ", high);
}

const drawn = (tag, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// An interval on the scale of the tree's pictures.
function levelMeter(data, [low, high], exposure) {
  const [first, last] = data.scale;
  const usual = data.usual / exposure; // the pictures are about another exposure
  const place = (value) => Math.min(100, Math.max(0, 100 * ((value * usual - first) / (last - first))));
  const svg = drawn("svg", { class: "meter", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(drawn("path", { class: "rail", d: "M0 8h100" }),
    drawn("path", { class: "within", d: `M${place(low) - 0.3} 8H${place(high) + 0.3}` }));
  return svg;
}

// The shape in the leaf's box, as wide as the form.
function enlarged(data, shape, common) {
  const { left, room, top, base } = data.shape;
  const svg = drawn("svg", { class: "enlarged", viewBox: `${left} ${top} ${room} ${base - top}`,
    preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const path of [shape, common]) path.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(shape, common);
  return svg;
}

// The mean and the intervals of a count with an exposure: it has a negative binomial distribution.
function ofCount([size, seen], exposure) {
  const odds = exposure / seen;
  const mean = size * odds;
  const tails = LEVELS.map((level) => (1 - level / 100) / 2);
  const found = quantiles(size, odds, mean, [...tails, ...tails.map((tail) => 1 - tail)].sort((a, b) => a - b));
  return { mean, intervals: LEVELS.map((_, i) => [found[LEVELS.length - 1 - i], found[LEVELS.length + i]]) };
}

// The least counts up to which the distribution has these shares, which rise. It adds up probabilities from where
// they begin to matter.
function quantiles(size, odds, mean, shares) {
  const log = Math.log1p(odds);
  let count = Math.max(0, Math.floor(mean - 12 * Math.sqrt(mean * (1 + odds))));
  let probability = Math.exp(logGamma(count + size) - logGamma(size) - logGamma(count + 1)
    + count * (Math.log(odds) - log) - size * log);
  let sum = probability;
  return shares.map((share) => {
    while (sum < share * (1 - 1e-12) && probability + sum > sum) {
      probability *= ((count + size) / (count + 1)) * (odds / (1 + odds));
      count += 1;
      sum += probability;
    }
    return count;
  });
}

// Stirling's series, where it is exact to all digits.
function logGamma(x) {
  let shift = 0;
  let at = x;
  while (at < 10) {
    shift -= Math.log(at);
    at += 1;
  }
  const square = 1 / (at * at);
  const series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / at;
  return shift + (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series;
}
