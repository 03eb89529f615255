// Probabilities in digits, as words/numbers.py writes them: none reads as 0 or 1 unless it is.

const MOST_DIGITS = 6;
const isCertain = (value) => value === 0 || value === 1;
const readsCertain = (value, digits) => isCertain(Number(value.toFixed(digits)));

// The least number of digits, at least `digits`, with which a value does not read as 0 or 1.
function neededDigits(value, digits) {
  let needed = digits;
  while (!isCertain(value) && needed <= MOST_DIGITS && readsCertain(value, needed)) needed += 1;
  return needed;
}

function writeProbability(value, digits) {
  if (isCertain(value) || !readsCertain(value, digits)) return value.toFixed(digits);
  const least = 10 ** -digits;
  return value < 0.5 ? `<${least.toFixed(digits)}` : `>${(1 - least).toFixed(digits)}`;
}

// A probability and the ends of its interval, with the same number of digits.
function writeEstimate({ mean, low, high }, digits) {
  const least = Math.min(neededDigits(mean, digits), MOST_DIGITS);
  const ends = [low, high].map((end) => neededDigits(end, digits));
  const most = Math.max(least, ...ends.filter((needed) => needed <= Math.min(least + 1, MOST_DIGITS)));
  return [mean, low, high].map((value) => writeProbability(value, most));
}
