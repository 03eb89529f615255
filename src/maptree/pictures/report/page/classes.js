// What a tree of classes predicts: probabilities and their credible intervals.

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const rowsIn = (node) => total(node.counts);
const extraField = () => null;

// The classes at a node with their probabilities (posterior means) and intervals; the most probable first.
function estimates(data, node) {
  const { counts } = data.nodes[node];
  const rows = total(counts);
  const all = rows + total(data.rho);
  const known = data.classes.map((name, k) => {
    const [low, high] = data.intervals[`${rows},${counts[k]},${data.rho.indexOf(data.rho[k])}`];
    return { k, name, mean: (counts[k] + data.rho[k]) / all, low, high };
  });
  return known.sort((a, b) => b.mean - a.mean || a.k - b.k);
}

// A node for screen readers.
function nodeWords(data, i) {
  const [best] = estimates(data, i);
  const [mean, low, high] = writeEstimate(best, 2);
  const name = data.nodes[i].children ? `Most probable: ${best.name}` : best.name;
  return `${name}, ${mean}, between ${low} and ${high}; ${rowsOf(rowsIn(data.nodes[i]))}`;
}

// The rows per class, for a tooltip.
function tipContent(data, node) {
  const rows = data.nodes[node].counts.map((count, k) => [count, data.classes[k]]).filter(([count]) => count > 0);
  rows.sort((a, b) => b[0] - a[0]);
  const shown = rows.slice(0, 8).map(([count, name]) => make("tr", {},
    make("td", {}, make("bdi", {}, name)), make("td", {}, rowsOf(count))));
  const more = rows.length > 8 ? [make("p", {}, `and ${rows.length - 8} more classes`)] : [];
  return [make("table", {}, ...shown), ...more];
}

// The prediction of a leaf: in one line, and in full.
function answerOf(data, leaf) {
  const known = estimates(data, leaf);
  const list = known.map(({ k, name, mean, low, high }) => make("li", { "data-class": k },
    make("bdi", {}, name),
    range({ mean, low, high }),
    meter(data.colours[k], mean, low, high)));
  return {
    verdict: [make("b", {}, make("bdi", { id: "answer-class" }, known[0].name)), " ", range(known[0])],
    details: [make("ul", { "aria-label": "Probabilities with 95% credible intervals" }, ...list)],
  };
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
